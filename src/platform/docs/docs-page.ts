import { type Html, html, trusted } from '../http/openapi/html.ts'
import { version } from '../version.ts'
import type { DocsPage } from './docs-files.ts'
import { type Addresses, pageAddress, sectionsOf } from './docs-markup.ts'
import { kindOf, type NavGroup } from './docs-nav.ts'

export interface Frame {
  at: Addresses
  nav: readonly NavGroup[]
  /** The addresses of the style, the script and the search library, each with a hash of its content. */
  assets: { style: string; script: string; library: string }
  /** The path of the page of the API and of the console; a static site may have neither. */
  api?: string
  console?: string
  /** The policy as a tag, for hosts that cannot send a header. */
  policy?: string
}

/** A page that is readable without scripts: they add the search, buttons that copy, and the choice of colours. */
export function pageOf(frame: Frame, page: DocsPage, body: string): string {
  const { at, nav } = frame
  const order = nav.filter(({ kind }) => kind !== 'decisions').flatMap(({ entries }) => entries)
  const place = order.findIndex((entry) => entry.page === page)
  const sections = sectionsOf(page).filter(({ depth }) => depth === 2 || depth === 3)
  return shell(frame, page.title, kindOf(nav, page), {
    current: page,
    head: html`<link rel="alternate" type="text/markdown" href="${at.base}${page.path || 'index'}.md">`,
    main: html`${trusted(body)}
<footer>
<p class="around">${place > 0 && html`<a rel="prev" href="${pageAddress(at, order[place - 1]!.page)}"><small>Previous</small> ${order[place - 1]!.label}</a>`}
${place >= 0 && order[place + 1] && html`<a rel="next" href="${pageAddress(at, order[place + 1]!.page)}"><small>Next</small> ${order[place + 1]!.label}</a>`}</p>
<p>Tidings ${version} · <a href="${at.base}${page.path || 'index'}.md">This page as Markdown</a> · <a href="${at.base}llms.txt">llms.txt</a> · <a href="${at.base}changelog.xml">Changelog as a feed</a></p>
</footer>`,
    aside:
      sections.length > 1 &&
      html`<aside aria-label="On this page"><h2>On this page</h2><ul>${sections.map(
        ({ id, text, depth }) => html`<li class="depth-${depth}"><a href="#${id}">${text}</a></li>`
      )}</ul></aside>`
  })
}

/** The page for an address that is not there. */
export const missingPage = (frame: Frame): string =>
  shell(frame, 'Not found', '', {
    main: html`<h1>There is no such page</h1>
<p>It may have moved. Search for it, or start at <a href="${frame.at.base}">the list of all pages</a>.</p>`
  })

interface Parts {
  current?: DocsPage
  head?: Html
  main: Html
  aside?: Html | false
}

function shell({ at, nav, assets, api, console, policy }: Frame, title: string, kind: string, parts: Parts): string {
  const links = html`${api && html`<a href="${api}">API</a>`} <a href="${at.base}changelog${at.suffix}">Changelog</a> ${console && html`<a href="${console}">Console</a>`}`
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
${policy !== undefined && html`<meta http-equiv="content-security-policy" content="${policy}">`}
<title>${title} · Tidings docs</title>
<link rel="icon" href="${at.base}assets/icon.svg">
<link rel="stylesheet" href="${assets.style}">
<link rel="alternate" type="application/atom+xml" title="Changelog" href="${at.base}changelog.xml">
${parts.head}
<script src="${assets.script}" data-base="${at.base}" data-suffix="${at.suffix}" data-library="${assets.library}"></script>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header>
<a class="menu" href="#nav">Menu</a>
<a class="brand" href="${at.base}">Tidings <span>docs</span></a>
<button type="button" class="find" hidden><span>Search</span> <kbd>/</kbd></button>
<p class="links">${links}</p>
<button type="button" class="theme" hidden aria-label="Light or dark"></button>
</header>
<div class="page">
<nav id="nav" aria-label="Docs">
<a class="close" href="#content">Close</a>
${nav.map(
  (
    group
  ) => html`<details${(group.kind === kind || (kind === '' && group.kind === 'tutorials')) && trusted(' open')}><summary>${group.title}</summary>
<ul>${group.entries.map(
    ({ page, label }) =>
      html`<li><a href="${pageAddress(at, page)}"${page === parts.current && trusted(' aria-current="page"')}>${label}</a></li>`
  )}</ul></details>`
)}
<p class="links">${links}</p>
</nav>
<main id="content" tabindex="-1">
${parts.main}
</main>
${parts.aside}
</div>
</body>
</html>
`.markup
}
