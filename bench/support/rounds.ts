import { median } from './load.ts'

/**
 * Runs all contestants in each round and returns what each round of each one measured. The first round warms up and is not
 * counted. Each round begins with another contestant, so that none always runs in the same place.
 */
export async function interleaved<Result>(
  rounds: number,
  contestants: Record<string, () => Promise<Result>>
): Promise<Record<string, Result[]>> {
  const names = Object.keys(contestants)
  const results: Record<string, Result[]> = Object.fromEntries(names.map((name) => [name, []]))
  for (let round = 0; round <= rounds; round += 1)
    for (let place = 0; place < names.length; place += 1) {
      const name = names[(round + place) % names.length]!
      const measured = await contestants[name]!()
      if (round > 0) results[name]!.push(measured)
    }
  return results
}

/** The median of a field over the rounds. */
export const medianOf = <Result>(results: Result[], field: (result: Result) => number): number =>
  median(results.map(field))

/** The median of the ratios round by round, since the speed of a machine changes over minutes. */
export const ratioOf = <Result>(ours: Result[], theirs: Result[], field: (result: Result) => number): number =>
  median(ours.map((one, round) => field(one) / field(theirs[round]!)))
