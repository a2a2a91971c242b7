import type { Class } from './cases.ts'
import { afterwords } from './classes/afterwords.ts'
import { answers } from './classes/answers.ts'
import { clear } from './classes/clear.ts'
import { conditions } from './classes/conditions.ts'
import { corrections } from './classes/corrections.ts'
import { dryRuns } from './classes/dry-runs.ts'
import { exclusions } from './classes/exclusions.ts'
import { keys } from './classes/keys.ts'
import { languages } from './classes/languages.ts'
import { looking } from './classes/looking.ts'
import { mutations } from './classes/mutations.ts'
import { natural } from './classes/natural.ts'
import { negations } from './classes/negations.ts'
import { noise } from './classes/noise.ts'
import { questions } from './classes/questions.ts'
import { scripts } from './classes/scripts.ts'
import { several } from './classes/several.ts'
import { targets } from './classes/targets.ts'
import { times } from './classes/times.ts'
import { values } from './classes/values.ts'

/**
 * Texts as people, assistants and models write them to an agent, each with the reaction of a careful colleague. Their
 * authors did not read the grammar, so the texts measure it and do not repeat it.
 */
export const corpus: readonly Class[] = [
  clear,
  natural,
  negations,
  conditions,
  times,
  questions,
  several,
  exclusions,
  dryRuns,
  keys,
  afterwords,
  targets,
  scripts,
  corrections,
  languages,
  noise,
  values,
  answers,
  looking,
  mutations
]
