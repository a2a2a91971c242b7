import type { Skill } from './skill.ts'
import { describedSkills, skillSchemas } from './skills.ts'

/** Prints docs/reference/agent-skills.md; a test compares the two. */
export function printSkillDocs(): string {
  const skills = describedSkills()
  const schemas = skillSchemas(skills, { spellings: true })
  const sections = [...skills.values()].map((skill) => sectionOf(skill, schemas[skill.id]))
  return `# Skills of the agent

This page has the JSON Schema of each skill's \`data\`. How to send a message is in [Agents](../guides/agents.md).

Every field may be spelt as the REST API spells it, in snake_case (\`project_user_id\`, also inside \`target\` and
\`targets\`). \`null\` counts as absent, and unknown fields are ignored, unless the skill says otherwise.

${sections.join('\n\n')}

\`npm run docs\` prints this page from \`src/a2a/skills/\`.
`
}

function sectionOf({ id, description, examples, artifact, exception }: Skill, schema: unknown): string {
  return `## ${id}

${description} In words: ${examples.map((example) => `“${example}”`).join(', ')}.

Its artifact is \`${artifact?.name}\`, with the data \`${JSON.stringify(artifact?.example)}\`.${exception ? ` ${exception}` : ''}

\`\`\`json
${JSON.stringify(schema, null, 2)}
\`\`\``
}
