import { createSkills, skillSchemas } from './registry.ts'

const unused = async (): Promise<never> => {
  throw new Error('only described')
}

const artifacts: Record<string, [name: string, data: object]> = {
  'send-push-notification': [
    'delivery-results',
    { totalSent: 1, results: [{ messageId: '…', status: 'DELIVERY_RESULT_STATUS_SUCCEED' }] }
  ],
  'trigger-campaign': ['trigger-result', { triggerId: '…' }],
  'create-user': ['user-result', { userId: '…', projectUserId: 'ana' }],
  'track-event': ['event-result', { trackedEvents: 1, eventName: 'purchase' }]
}

/** The page docs/reference/agent-skills.md; a test compares. */
export function printSkillDocs(): string {
  const skills = createSkills({
    createUser: unused,
    createUsers: unused,
    trackEvent: unused,
    sendPush: unused,
    triggerCampaign: unused
  })
  const schemas = skillSchemas(skills, { spellings: true })
  const sections = [...skills.values()].map(({ id, description, examples }) => {
    const [name, data] = artifacts[id]!
    return `## ${id}

${description} In words: ${examples.map((example) => `“${example}”`).join(', ')}.

Its artifact is \`${name}\`, with the data \`${JSON.stringify(data)}\`.

\`\`\`json
${JSON.stringify(schemas[id], null, 2)}
\`\`\``
  })
  return `# Skills of the agent

JSON Schemas of what stands in the \`data\` of a message. How to send one is in [Agents](../guides/agents.md).

Every field may be spelt as the REST API spells it, in snake_case (\`project_user_id\`, also inside \`target\` and
\`targets\`), and \`null\` counts as absent; only \`properties: null\` of a user is refused. Unknown fields are ignored.
\`trigger-campaign\` asks about them instead (\`input-required\`), since one may have been meant to narrow the audience.

${sections.join('\n\n')}

This page is printed from \`src/a2a/skills/\` by \`npm run docs\`.
`
}
