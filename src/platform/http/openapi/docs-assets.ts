/** Additions to the API page for browsers with scripts: copy buttons, and contents that fold away on a phone. */
export const docsScript = `
const contents = document.querySelector('.contents')
const narrow = matchMedia('(max-width: 56rem)')
const fold = () => { contents.open = !narrow.matches }
fold()
narrow.addEventListener('change', fold)
contents.addEventListener('click', (event) => { if (event.target.closest('a')) setTimeout(fold) })
if (navigator.clipboard) {
  for (const figure of document.querySelectorAll('figure.code')) {
    const button = document.createElement('button')
    button.type = 'button'
    button.textContent = 'Copy'
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(figure.querySelector('code').textContent)
      button.textContent = 'Copied'
      setTimeout(() => { button.textContent = 'Copy' }, 1500)
    })
    figure.querySelector('figcaption').append(button)
  }
}
`

export const docsStyle = `
:root {
  color-scheme: light dark;
  --page: light-dark(#ffffff, #101413);
  --raised: light-dark(#f6f8f7, #171d1b);
  --line: light-dark(#e1e7e4, #29322f);
  --text: light-dark(#1a2421, #dfe8e4);
  --quiet: light-dark(#56645f, #93a39d);
  --accent: light-dark(#0b6e5f, #5fd0b8);
  --must: light-dark(#a3450b, #f0a468);
  --code: light-dark(#12201c, #0a0e0d);
  --code-text: #d8e5e0;
  --sans: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
  --mono: ui-monospace, SFMono-Regular, "SF Mono", Menlo, Consolas, "Liberation Mono", monospace;
}
* { box-sizing: border-box }
html { scroll-padding-top: 1.5rem; -webkit-text-size-adjust: 100% }
body { margin: 0; background: var(--page); color: var(--text); font: 0.9375rem/1.6 var(--sans) }
h1, h2, h3, h4, p, ul, figure { margin: 0 }
h1, h2, h3 { line-height: 1.25; letter-spacing: -0.015em; text-wrap: balance }
a { color: var(--accent); text-underline-offset: 0.2em }
a:focus-visible, summary:focus-visible, button:focus-visible, [tabindex="0"]:focus-visible {
  outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 4px }
main:focus { outline: none }
code { font-family: var(--mono); font-size: 0.865em; overflow-wrap: anywhere }
p code { display: inline-block; max-width: 100%; line-height: 1.35 }
p code, td > code { background: var(--raised); border: 1px solid var(--line); border-radius: 4px; padding: 0.05em 0.35em }
.skip { position: absolute; left: -100vw; background: var(--page); padding: 0.5rem 1rem; z-index: 2 }
.skip:focus { left: 1rem; top: 1rem }

.page { display: grid; grid-template-columns: 17.5rem minmax(0, 1fr) }
nav { position: sticky; top: 0; height: 100vh; overflow-y: auto; padding: 1.75rem 0.75rem 3rem 1.25rem;
  background: var(--raised); border-right: 1px solid var(--line); font-size: 0.84rem; scrollbar-width: thin }
nav ul { list-style: none; padding: 0 }
nav a { color: inherit; text-decoration: none }
nav li a { display: flex; gap: 0.5rem; align-items: baseline; padding: 0.2rem 0.5rem; border-radius: 6px; line-height: 1.4; color: var(--quiet) }
nav li a:hover { background: light-dark(#e9eeec, #202826); color: var(--text) }
nav h2 { font-size: 0.72rem; font-weight: 650; letter-spacing: 0.07em; text-transform: uppercase; padding: 1.25rem 0.5rem 0.35rem }
nav .method { flex: 0 0 2.9rem; font-size: 0.63rem; letter-spacing: 0 }
.brand { padding: 0 0.5rem 1rem; font-size: 1.05rem; font-weight: 700; letter-spacing: -0.02em }
.brand span { font-size: 0.75rem; font-weight: 400; letter-spacing: 0; color: var(--quiet) }
.contents > summary { display: none }

main { padding: 3.5rem clamp(1.25rem, 4vw, 4rem) 4rem; max-width: 84rem }
h1 { font-size: 2.1rem; font-weight: 720; letter-spacing: -0.03em }
.lead { color: var(--quiet); margin-top: 0.6rem; max-width: 44rem }
.intro .lead { font-size: 1.06rem }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(22rem, 100%), 1fr)); gap: 1.75rem 3rem; margin-top: 2.25rem }
.cards h2 { font-size: 1rem; margin-bottom: 0.4rem }
.cards p { font-size: 0.9rem; color: light-dark(#3c4945, #b4c2bd) }
main > section:not(.intro) { margin-top: 5rem }
main > section:not(.intro) > h2 { font-size: 1.55rem; font-weight: 680 }

article { display: grid; grid-template-columns: minmax(0, 1.15fr) minmax(0, 1fr); gap: 0 3rem; align-items: start;
  padding: 2.5rem 0; border-bottom: 1px solid var(--line) }
section > article:last-child { border-bottom: 0 }
article header { grid-column: 1 / -1; margin-bottom: 1.25rem }
h3 { font-size: 1.14rem; font-weight: 640 }
h3 a { color: inherit; text-decoration: none }
h3 a:hover { text-decoration: underline }
article:target h3 a { color: var(--accent) }
.route { margin-top: 0.55rem; display: flex; gap: 0.6rem; align-items: baseline }
.route code { background: none; border: 0; padding: 0; font-size: 0.9rem }
.access { margin-top: 0.3rem; font-size: 0.86rem; color: var(--quiet) }
.method { font: 700 0.68rem/1.5 var(--mono); letter-spacing: 0.04em; color: var(--hue) }
.route .method { padding: 0.15em 0.6em; border-radius: 5px; background: color-mix(in srgb, var(--hue) 13%, transparent) }
.get { --hue: light-dark(#1257b0, #7fb4ff) }
.post { --hue: light-dark(#0b6e4f, #63d3a6) }
.put, .patch { --hue: light-dark(#8a5300, #f0b45f) }
.delete { --hue: light-dark(#b3261e, #ff8f86) }
.told > h4, .told > details { margin-top: 1.6rem }
.told > h4:first-child, .told > details:first-child { margin-top: 0 }
h4 { font-size: 0.72rem; font-weight: 650; letter-spacing: 0.07em; text-transform: uppercase; color: var(--quiet); margin-bottom: 0.35rem }

table { width: 100%; border-collapse: collapse; font-size: 0.86rem; line-height: 1.5 }
thead th { position: absolute; clip-path: inset(50%); width: 1px; height: 1px; overflow: hidden }
th, td { text-align: left; vertical-align: top; font-weight: 400; padding: 0.5rem 1rem 0.5rem 0; border-top: 1px solid var(--line) }
th[scope=row] { width: 44%; color: var(--text) }
th[scope=row] code { font-weight: 600 }
td:last-child { padding-right: 0; color: var(--quiet) }
.type { display: block; font-family: var(--mono); font-size: 0.76rem; color: var(--quiet) }
.must { margin-left: 0.3rem; font: 0.74rem var(--sans); color: var(--must) }
.told > p { font-size: 0.86rem; color: var(--quiet) }
details:not(.contents) summary { cursor: pointer; width: fit-content; font-size: 0.72rem; font-weight: 650; letter-spacing: 0.07em;
  text-transform: uppercase; color: var(--quiet); padding: 0.15rem 0.3rem 0.15rem 0 }
details:not(.contents) summary:hover { color: var(--text) }
details table { margin-top: 0.35rem }
details th[scope=row] { width: 3.5rem; font-family: var(--mono); font-size: 0.82rem; font-weight: 600 }
details td:nth-child(2) { width: 44%; color: var(--quiet) }
details td > code { background: none; border: 0; padding: 0; display: block }
.statuses { margin-left: 0.4rem; font: 400 0.72rem var(--mono); letter-spacing: 0 }
.statuses span { margin-right: 0.25rem }

.shown { position: sticky; top: 1.5rem; display: grid; gap: 1rem; min-width: 0 }
.code { background: var(--code); color: var(--code-text); border-radius: 10px; border: 1px solid light-dark(transparent, var(--line)); overflow: hidden }
.code figcaption { display: flex; gap: 0.75rem; align-items: center; min-height: 2.4rem; padding: 0.35rem 0.6rem 0.35rem 1rem; font-size: 0.76rem; color: #93aaa2; border-bottom: 1px solid #ffffff14 }
.code .ok { color: #6fd7b3; font-family: var(--mono) }
.code button { margin-left: auto; font: 500 0.74rem var(--sans); color: #c5d6d0; background: #ffffff12; border: 0; border-radius: 6px; padding: 0.3rem 0.65rem; cursor: pointer }
.code button:hover { background: #ffffff26 }
pre { margin: 0; padding: 0.85rem 1rem 1rem; max-height: 26rem; overflow: auto; font: 0.78rem/1.75 var(--mono); scrollbar-width: thin; scrollbar-color: #ffffff33 transparent }
.code pre:focus-visible { outline-offset: -2px }
pre code { font-size: inherit; white-space: pre-wrap }
.word { display: inline-block; max-width: 100% }
.key { color: #9cc9ff } .str { color: #a5dfb4 } .lit { color: #f3c07d }
footer { margin-top: 4rem; padding-top: 1.5rem; border-top: 1px solid var(--line); font-size: 0.84rem; color: var(--quiet) }

@media (max-width: 75rem) {
  article { grid-template-columns: minmax(0, 1fr); gap: 1.5rem }
  article header { margin-bottom: 0 }
  .shown { position: static }
}
@media (max-width: 56rem) {
  .page { grid-template-columns: minmax(0, 1fr) }
  nav { position: static; height: auto; border-right: 0; border-bottom: 1px solid var(--line); padding: 1rem 1.25rem }
  .brand { padding-bottom: 0.5rem }
  .contents > summary { display: list-item; cursor: pointer; padding: 0.35rem 0.5rem; color: var(--accent); font-size: 0.9rem }
  nav li a { padding: 0.45rem 0.5rem }
  main { padding-top: 2rem }
  h1 { font-size: 1.7rem }
}
@media (max-width: 36rem) {
  table, tbody, tr, th, td, th[scope=row] { display: block; width: auto }
  tbody tr { border-top: 1px solid var(--line); padding: 0.6rem 0 }
  th, td { border: 0; padding: 0.05rem 0 }
  details th[scope=row], details td:nth-child(2) { width: auto }
}
@media (prefers-reduced-motion: no-preference) { html { scroll-behavior: smooth } }
@media print { nav, .code button { display: none } .page { display: block } .shown { position: static } }
`
