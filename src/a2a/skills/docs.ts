import type { Skill } from './skill.ts'
import { describedSkills, skillSchemas } from './skills.ts'

const effects: Record<Skill['effect'], string> = {
  read: 'It changes nothing.',
  write: 'It changes data of the project.',
  send: 'It reaches people.',
  stop: 'It stops what another skill began.'
}

/** Prints docs/reference/agent-skills.md; a test compares the two. */
export function printSkillDocs(): string {
  const skills = [...describedSkills().values()]
  const schemas = skillSchemas(describedSkills(), { spellings: true })
  const section = (skill: Skill) => sectionOf(skill, schemas[skill.id])
  return `# Skills of the agent

This page has the JSON Schemas of each skill: of the \`data\` that asks for it, and of the data of its artifact. How to send a
message is in [Agents](../guides/agents.md).

Every field may be spelt as the REST API spells it, in snake_case (\`project_user_id\`, also inside \`target\` and
\`targets\`). \`null\` counts as absent, and unknown fields are ignored, unless the skill says otherwise. An id that does not
exist is \`rejected\` with a sentence that says so, unless the skill says otherwise.

${indexOf(skills)}

${skills.map(section).join('\n\n')}

\`npm run docs\` prints this page from \`src/a2a/skills/\`.
`
}

function indexOf(skills: Skill[]): string {
  const rows = skills.map(
    ({ id, effect, extension, rest }) =>
      `| [\`${id}\`](#${id}) | ${effect} | ${extension ? 'with the extension' : 'always'} | ${rest.map((route) => `\`${route}\``).join(', ')} |`
  )
  return `| Skill | Effect | On the card | Same as, below \`/api/v1\` |\n|---|---|---|---|\n${rows.join('\n')}`
}

function sectionOf(skill: Skill, schema: unknown): string {
  const { id, description, examples, artifact, exception, effect, text, output, example } = skill
  const words = text ? ` In words: ${examples.map((one) => `“${one}”`).join(', ')}.` : ''
  return `## ${id}

${description} ${effects[effect]}${words}

As data: \`${JSON.stringify(example)}\`. Its artifact is \`${artifact?.name}\`, with data such as
\`${JSON.stringify(artifact?.example)}\`.${exception ? ` ${exception}` : ''}

\`\`\`json
${JSON.stringify(schema, null, 2)}
\`\`\`

The data of \`${artifact?.name}\`:

\`\`\`json
${JSON.stringify(output, null, 2)}
\`\`\``
}
