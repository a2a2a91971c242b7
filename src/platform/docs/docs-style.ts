export const siteStyle = `
:root {
  color-scheme: light dark;
  --page: light-dark(#ffffff, #101413);
  --raised: light-dark(#f6f8f7, #171d1b);
  --line: light-dark(#e1e7e4, #29322f);
  --text: light-dark(#1a2421, #dfe8e4);
  --accent: light-dark(#0b6e5f, #5fd0b8);
}
* { box-sizing: border-box }
html { scroll-padding-top: 1rem }
body { margin: 0; display: grid; grid-template-columns: 17rem minmax(0, 1fr); background: var(--page); color: var(--text);
  font: 1rem/1.6 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif }
nav { position: sticky; top: 0; height: 100vh; overflow-y: auto; padding: 1.5rem 1.25rem; background: var(--raised);
  border-right: 1px solid var(--line); font-size: 0.875rem }
nav ul { list-style: none; margin: 0.25rem 0 0.75rem; padding: 0 0 0 0.75rem }
nav li { margin: 0.2rem 0 }
nav summary { cursor: pointer; font-weight: 600; padding: 0.25rem 0 }
.brand { display: flex; gap: 1rem; margin: 0 0 1rem }
.brand a:first-child { font-weight: 700 }
a { color: var(--accent); text-underline-offset: 0.2em }
nav li a { text-decoration: none }
a[aria-current] { font-weight: 700 }
main { max-width: 52rem; padding: 1rem 2rem 4rem; overflow-wrap: break-word }
main:focus { outline: none }
h1, h2, h3 { line-height: 1.25; letter-spacing: -0.015em; margin: 2rem 0 0.75rem }
h1 { margin-top: 0.5rem }
code { font: 0.875em ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace; background: var(--raised);
  border-radius: 4px; padding: 0.1em 0.3em; overflow-wrap: anywhere }
pre { background: var(--raised); border: 1px solid var(--line); border-radius: 8px; padding: 0.75rem 1rem; overflow-x: auto }
pre code { background: none; padding: 0; overflow-wrap: normal }
table { display: block; max-width: 100%; overflow-x: auto; border-collapse: collapse }
th, td { border: 1px solid var(--line); padding: 0.4rem 0.6rem; text-align: start; vertical-align: top }
img { max-width: 100%; height: auto; border: 1px solid var(--line); border-radius: 8px }
blockquote { margin: 1rem 0; padding: 0 1rem; border-inline-start: 3px solid var(--accent) }
.skip { position: absolute; left: -100vw; background: var(--page); padding: 0.5rem 1rem; z-index: 2 }
.skip:focus { left: 1rem; top: 1rem }
a:focus-visible, summary:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 4px }
@media (max-width: 56rem) {
  body { display: block }
  nav { position: static; height: auto; border-right: 0; border-bottom: 1px solid var(--line) }
  main { padding: 1rem }
}
@media print { nav { display: none } body { display: block } }
`
