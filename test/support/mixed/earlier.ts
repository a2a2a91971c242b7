import { existsSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { outputOf } from '../children.ts'
import { root, temporaryFolder } from '../program.ts'

export interface Earlier {
  folder: string
  /** The tag or commit, for people. */
  name: string
}

/**
 * The code that an upgrade comes from, in a folder of its own: the last release or, before the first one, the last
 * commit whose migrations differ. The packages are those of the present code.
 */
export async function earlierCode(t: TestContext): Promise<Earlier> {
  const git = async (...args: string[]) => (await outputOf(t, 'git', args, { cwd: root })).trim()
  if ((await git('rev-parse', '--is-shallow-repository')) === 'true')
    throw new Error('This test needs the history of the repository. Clone it whole: git fetch --unshallow --tags')
  const tag = (await git('tag', '--list', 'v*', '--sort=-v:refname', '--merged', 'HEAD')).split('\n')[0]
  const changed = await git('log', '-1', '--diff-filter=A', '--format=%H', '--', 'migrations')
  const commit = tag || `${changed}^`
  const folder = await temporaryFolder(t)
  const archive = join(folder, 'code.tar')
  const parts = ['src', 'migrations', 'package.json', 'package-lock.json', 'test/support']
  await git('archive', '--format=tar', `--output=${archive}`, commit, '--', ...parts)
  await outputOf(t, 'tar', ['-xf', archive, '-C', folder], {})
  refuseOtherPackages(folder, commit)
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  return { folder, name: tag || (await git('log', '-1', '--format=%h %s', commit)) }
}

/** The earlier code runs on the present packages, so these must be of the same major versions. */
function refuseOtherPackages(folder: string, commit: string): void {
  const { dependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>
  }
  const unlike = Object.entries(dependencies).filter(([name, wanted]) => {
    const file = join(root, 'node_modules', name, 'package.json')
    return !existsSync(file) || JSON.parse(readFileSync(file, 'utf8')).version.split('.')[0] !== wanted.split('.')[0]
  })
  if (unlike.length > 0)
    throw new Error(
      `The code of ${commit} needs other packages (${unlike.map((one) => one.join(' ')).join(', ')}), so it cannot run ` +
        'here. Install its packages in a folder of its own, and let this test use them.'
    )
}

/** Whether the earlier code can start on a newer schema at all: the first versions refused every one. */
export const startsBeside = (folder: string) => existsSync(join(folder, 'src/platform/db/migrations.ts'))
