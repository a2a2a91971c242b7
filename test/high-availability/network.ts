import { execFileSync } from 'node:child_process'
import type { TestContext } from 'node:test'

/** A machine of the cluster: an address of its own, from which the others can be cut off. */
export interface Place {
  address: string
  /** The command line that runs a program there. */
  inside(command: string[]): string[]
  cut(): void
  mend(): void
}

const ip = (...args: string[]) => void execFileSync('ip', args, { stdio: ['ignore', 'ignore', 'pipe'] })

/**
 * Network namespaces on one bridge, so that a machine can be cut off while its processes go on. The bridge is the
 * machine of this process.
 */
export function network(t: TestContext, count: number): { here: string; places: Place[] } {
  const mark = process.pid.toString(36)
  const net = `10.83.${process.pid % 250}`
  const bridge = `tb${mark}`
  ip('link', 'add', bridge, 'type', 'bridge')
  t.after(() => ip('link', 'del', bridge))
  ip('addr', 'add', `${net}.1/24`, 'dev', bridge)
  ip('link', 'set', bridge, 'up')
  const places = Array.from({ length: count }, (_, index): Place => {
    const [space, near, far] = [`tn${mark}-${index}`, `ta${mark}-${index}`, `tz${mark}-${index}`]
    const address = `${net}.${11 + index}`
    ip('netns', 'add', space)
    t.after(() => ip('netns', 'del', space))
    ip('link', 'add', near, 'type', 'veth', 'peer', 'name', far, 'netns', space)
    ip('link', 'set', near, 'master', bridge, 'up')
    ip('-n', space, 'addr', 'add', `${address}/24`, 'dev', far)
    ip('-n', space, 'link', 'set', far, 'up')
    ip('-n', space, 'link', 'set', 'lo', 'up')
    return {
      address,
      inside: (command) => ['ip', 'netns', 'exec', space, ...command],
      cut: () => ip('link', 'set', near, 'down'),
      mend: () => ip('link', 'set', near, 'up')
    }
  })
  return { here: `${net}.1`, places }
}
