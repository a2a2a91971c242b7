const root = document.documentElement

/**
 * A dialog that toasts would cover ends above them: `data-raised` and `--raised-by` of the page say so to
 * toasts.module.css. It stays there until the toasts or the dialog are gone, because a dialog that moves often is hard to
 * use. Returns a function that ends it.
 */
export function raiseDialogs(strip: HTMLElement): () => void {
  const fit = () => {
    const dialogs = [...document.querySelectorAll<HTMLElement>('.mantine-Modal-content')]
    for (const dialog of dialogs) sizes.observe(dialog)
    if (strip.offsetHeight === 0 || dialogs.length === 0) return root.removeAttribute('data-raised')
    if (!('raised' in root.dataset) && !dialogs.some((dialog) => isCovered(dialog, strip))) return
    // The buttons of most dialogs are at their end, so what was scrolled to its end stays there.
    const ended = dialogs.filter(
      ({ scrollTop, clientHeight, scrollHeight }) => scrollTop + clientHeight >= scrollHeight
    )
    root.style.setProperty('--raised-by', `${innerHeight - strip.getBoundingClientRect().top}px`)
    root.dataset.raised = ''
    for (const dialog of ended) dialog.scrollTop = dialog.scrollHeight
  }
  const sizes = new ResizeObserver(fit)
  sizes.observe(strip)
  // Dialogs that open and close. Without toasts there is nothing to do, so the page is watched only while there are any.
  const dialogs = new MutationObserver(fit)
  const toasts = new MutationObserver(() => {
    if (strip.childElementCount > 0) dialogs.observe(document.body, { childList: true, subtree: true })
    else dialogs.disconnect()
  })
  toasts.observe(strip, { childList: true })
  return () => {
    for (const observer of [sizes, dialogs, toasts]) observer.disconnect()
  }
}

/** By the places of the layout: dialogs move while they open. */
function isCovered({ offsetLeft, offsetTop, offsetWidth, offsetHeight }: HTMLElement, strip: HTMLElement): boolean {
  const { top, left, right } = strip.getBoundingClientRect()
  return offsetTop + offsetHeight > top && offsetLeft + offsetWidth > left && offsetLeft < right
}
