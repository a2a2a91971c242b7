import { describedSkills, textsOf } from '../../src/a2a/skills/skills.ts'
import { createGrammar } from '../../src/a2a/text/grammar.ts'

/** The skills as the docs show them, and the grammar of their texts. They cannot be run. */
export const skills = describedSkills()
/** The skills that every card has, in their order. */
export const contractSkills = ['send-push-notification', 'trigger-campaign', 'create-user', 'track-event']
export const grammar = createGrammar(textsOf(skills))
export const { read, answer } = grammar
