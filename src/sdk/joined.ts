/** A module of ours without types: named imports and re-exports of its neighbours, each a statement of its own. */
const importing = /^import\s*\{[^}]*\}\s*from\s*'\.\/([\w-]+)\.(?:ts|js)'$/gm
const reexporting = /^(export\s*\{[^}]*\})\s*from\s*'\.\/([\w-]+)\.(?:ts|js)'$/gm

/**
 * Joins a module and those it imports to one script without imports, each before the first one that needs it. Names must
 * differ over all of them; a browser refuses a script that declares one twice.
 */
export async function joined(read: (file: string) => Promise<string>, entry: string): Promise<string> {
  const parts = new Map<string, string>()
  async function add(file: string): Promise<void> {
    if (parts.has(file)) return
    parts.set(file, '')
    const text = await read(file)
    for (const [, name] of text.matchAll(importing)) await add(`${name}.js`)
    for (const [, , name] of text.matchAll(reexporting)) await add(`${name}.js`)
    const own = text.replace(importing, '').replace(reexporting, file === entry ? '$1' : '')
    // Set again, because a Map keeps the order of first insertions.
    parts.delete(file)
    parts.set(file, file === entry ? own : own.replace(/^export (?=async |function |const |class )/gm, ''))
  }
  await add(entry)
  return [...parts.values()].join('\n').replace(/\n\s*\n+/g, '\n')
}
