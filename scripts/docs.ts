// Writes the pages that are printed from the code: `npm run docs`.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { printSkillDocs, printTextDocs } from '../src/a2a/a2a.ts'
import { printCampaignSchema } from '../src/campaigns/definition/file-schema.ts'
import { printCommandDocs } from '../src/cli/docs.ts'
import { printConfigDocs } from '../src/platform/config/config.ts'
import { printErrorDocs } from '../src/platform/error-docs.ts'
import { publicDocument } from './client/document.ts'
import { printOperations, printSchemas } from './client/types.ts'

const client = join(import.meta.dirname, '../src/client')
const docs = join(import.meta.dirname, '../docs/reference')
await writeFile(join(docs, 'config.md'), printConfigDocs())
await writeFile(join(docs, 'errors.md'), printErrorDocs())
await writeFile(join(docs, 'agent-skills.md'), printSkillDocs())
await writeFile(join(docs, 'agent-texts.md'), printTextDocs())
await writeFile(join(docs, 'campaign.schema.json'), printCampaignSchema())
await writeFile(join(docs, 'commands.md'), await printCommandDocs())

const document = publicDocument()
await writeFile(join(client, 'schemas.ts'), printSchemas(document))
await writeFile(join(client, 'operations.ts'), printOperations(document))
