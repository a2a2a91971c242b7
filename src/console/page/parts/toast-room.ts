/** Below this width toasts take a strip at the bottom of the screen. */
const narrow = matchMedia('(max-width: 48em)')
const controls = 'main :is(a, button, input, textarea, summary, [role=button], [role=tab])'

/**
 * On a phone a strip of toasts would cover the controls at the bottom of the screen, so the page ends above it: what
 * stays at the bottom, such as the bar that saves a campaign, moves up by `--toasts-height`, and a control at the end of
 * the page, or the one just used, is scrolled out of the strip. Returns a function that ends it.
 */
export function makeRoom(strip: HTMLElement): () => void {
  const root = document.documentElement
  let height = 0
  const fit = () => {
    const fresh = narrow.matches ? strip.offsetHeight : 0
    if (fresh === height) return
    const grown = fresh - height
    const atEnd = scrollY + innerHeight >= root.scrollHeight - 2
    height = fresh
    root.style.setProperty('--toasts-height', `${height}px`)
    document.body.style.paddingBottom = `${height}px`
    const isCovered = (control: Element) => {
      const { top, bottom } = control.getBoundingClientRect()
      return top < innerHeight && bottom > innerHeight - height
    }
    const used = document.activeElement?.matches(controls) ? [document.activeElement] : []
    const candidates = atEnd ? [...document.querySelectorAll(controls)] : used
    if (grown > 0 && candidates.some(isCovered)) scrollBy({ top: grown })
  }
  const watch = new ResizeObserver(fit)
  watch.observe(strip)
  narrow.addEventListener('change', fit)
  return () => {
    watch.disconnect()
    narrow.removeEventListener('change', fit)
  }
}
