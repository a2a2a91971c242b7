// Additions to the pages of the docs for browsers with scripts: colours, the search, and buttons that copy code.
const settings = document.currentScript.dataset
const root = document.documentElement
const system = matchMedia('(prefers-color-scheme: dark)')
const stored = () => {
  try {
    return localStorage.getItem('tidings-docs-theme')
  } catch {
    return null
  }
}

// At once rather than with the rest, so that a page does not flash in the other colours.
if (stored()) root.dataset.theme = stored()

document.addEventListener('DOMContentLoaded', () => {
  addTheme()
  addSearch()
  addCopying()
  document.querySelector('nav [aria-current]')?.scrollIntoView({ block: 'nearest' })
})

function addTheme() {
  const button = document.querySelector('button.theme')
  const isDark = () => (root.dataset.theme ?? (system.matches ? 'dark' : 'light')) === 'dark'
  const show = () => {
    button.textContent = isDark() ? '☾' : '☀'
  }
  button.hidden = false
  show()
  system.addEventListener('change', show)
  button.addEventListener('click', () => {
    root.dataset.theme = isDark() ? 'light' : 'dark'
    try {
      localStorage.setItem('tidings-docs-theme', root.dataset.theme)
    } catch {
      // The choice then lasts as long as the page.
    }
    show()
  })
}

function addCopying() {
  if (!navigator.clipboard) return
  for (const code of document.querySelectorAll('pre')) {
    const button = document.createElement('button')
    button.type = 'button'
    button.className = 'copy'
    button.textContent = 'Copy'
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(code.querySelector('code').textContent.trimEnd())
      button.textContent = 'Copied'
      setTimeout(() => {
        button.textContent = 'Copy'
      }, 1500)
    })
    const frame = document.createElement('div')
    frame.className = 'code'
    code.replaceWith(frame)
    frame.append(code, button)
  }
}

/** The index comes with the first search, not with each page. */
let loading
let failures = 0
async function loadIndex() {
  const [{ default: MiniSearch }, response] = await Promise.all([
    // A browser may remember that a module could not be loaded. Another fragment makes it load the same file again.
    import(failures === 0 ? settings.library : `${settings.library}#${failures}`),
    fetch(`${settings.base}search.json`)
  ])
  if (!response.ok) throw new Error(`The index responded ${response.status}.`)
  const { options, index } = await response.json()
  return MiniSearch.loadJS(index, options)
}
function loadedIndex() {
  loading ??= loadIndex().catch((error) => {
    loading = undefined
    failures += 1
    throw error
  })
  return loading
}

function addSearch() {
  const dialog = document.createElement('dialog')
  dialog.className = 'search'
  dialog.setAttribute('aria-label', 'Search the docs')
  dialog.innerHTML = `<input type="search" placeholder="Search the docs" aria-label="Search the docs" role="combobox"
    aria-expanded="true" aria-controls="found" aria-autocomplete="list" autocomplete="off" spellcheck="false" autofocus>
    <ul id="found" role="listbox" aria-label="Found"></ul><p class="state" role="status"></p>`
  document.body.append(dialog)
  const input = dialog.querySelector('input')
  const list = dialog.querySelector('ul')
  const state = dialog.querySelector('.state')
  const searchAgain = () => void search(input.value, list, state, input)
  const open = () => {
    if (!dialog.open) dialog.showModal()
    input.select()
    searchAgain()
  }
  const button = document.querySelector('button.find')
  button.hidden = false
  button.addEventListener('click', open)
  document.addEventListener('keydown', (event) => {
    const typing = event.target.closest?.('input, textarea, select')
    const asked = (event.key === 'k' && (event.ctrlKey || event.metaKey)) || (event.key === '/' && !typing)
    if (!asked) return
    event.preventDefault()
    open()
  })
  dialog.addEventListener('click', (event) => {
    if (event.target === dialog || event.target.closest('a')) dialog.close()
  })
  input.addEventListener('input', searchAgain)
  state.addEventListener('click', (event) => {
    if (!event.target.closest('button')) return
    input.focus()
    searchAgain()
  })
  input.addEventListener('keydown', (event) => {
    // Chromium would only empty the field.
    if (event.key === 'Escape') dialog.close()
    move(event, list, input)
  })
}

let isLoaded = false
async function search(words, list, state, input) {
  state.textContent = isLoaded ? '' : 'Loading the index…'
  if (words.trim() === '') list.replaceChildren()
  try {
    const index = await loadedIndex()
    isLoaded = true
    if (input.value !== words) return
    const found = words.trim() === '' ? [] : find(index, words)
    list.replaceChildren(...found.map(resultOf))
    select(list, 0, input)
    state.textContent = found.length === 0 && words.trim() !== '' ? 'Nothing found. Try fewer or other words.' : ''
  } catch {
    if (input.value !== words) return
    const again = document.createElement('button')
    again.type = 'button'
    again.textContent = 'Try again'
    state.replaceChildren('The index could not be loaded. Check that the service and your network are up. ', again)
  }
}

/** All words first; if no part of the docs has them all, parts with some of them. */
function find(index, words) {
  const options = {
    prefix: true,
    fuzzy: (term) => (term.length > 4 ? 0.2 : false),
    boost: { title: 3, heading: 2 },
    boostDocument: (_id, _term, { weight }) => weight
  }
  const all = index.search(words, { ...options, combineWith: 'AND' })
  return (all.length > 0 ? all : index.search(words, options)).slice(0, 20)
}

function resultOf({ id, title, heading, about }, place) {
  const [path, hash] = id.split('#')
  const item = document.createElement('li')
  item.role = 'option'
  item.id = `found-${place}`
  const link = document.createElement('a')
  link.href = `${settings.base}${path}${path && settings.suffix}${hash ? `#${hash}` : ''}`
  link.tabIndex = -1
  for (const [kind, text] of [
    ['strong', heading || title],
    ['small', heading && title],
    ['span', about]
  ]) {
    if (!text) continue
    const part = document.createElement(kind)
    part.textContent = text
    link.append(part)
  }
  item.append(link)
  return item
}

function select(list, place, input) {
  for (const [index, item] of [...list.children].entries()) item.setAttribute('aria-selected', String(index === place))
  const item = list.children[place]
  item?.scrollIntoView({ block: 'nearest' })
  if (item) input.setAttribute('aria-activedescendant', item.id)
  else input.removeAttribute('aria-activedescendant')
}

function move(event, list, input) {
  const items = [...list.children]
  const place = items.findIndex((item) => item.getAttribute('aria-selected') === 'true')
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
  if (event.key === 'Enter') items[place]?.querySelector('a').click()
  else if (step && items.length > 0) select(list, (place + step + items.length) % items.length, input)
  else return
  event.preventDefault()
}
