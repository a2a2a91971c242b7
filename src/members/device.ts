/** The first match names it, so that a browser which also calls itself Chrome or Safari is named by its own name. */
const browsers: [RegExp, string][] = [
  [/\bEdgA?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(Firefox|FxiOS)\//, 'Firefox'],
  [/\b(HeadlessChrome|Chrome|CriOS|Chromium)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
  [/^curl\//, 'curl'],
  [/^tidings/i, 'Tidings CLI']
]
const systems: [RegExp, string][] = [
  [/iPhone/, 'iPhone'],
  [/iPad/, 'iPad'],
  [/Android/, 'Android'],
  [/CrOS/, 'ChromeOS'],
  [/Windows/, 'Windows'],
  [/Macintosh|Mac OS X/, 'macOS'],
  [/Linux/, 'Linux']
]

const named = (userAgent: string, names: [RegExp, string][]) => names.find(([sign]) => sign.test(userAgent))?.[1]

/** The device of a session in words: Firefox on Windows. */
export function deviceOf(userAgent: string | null): string {
  const [browser, system] = [named(userAgent ?? '', browsers), named(userAgent ?? '', systems)]
  if (browser && system) return `${browser} on ${system}`
  return browser ?? system ?? 'Unknown device'
}
