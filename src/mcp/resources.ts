import {
  type ListResourcesResult,
  type ListResourceTemplatesResult,
  type ReadResourceResult,
  ResourceNotFoundError
} from '@modelcontextprotocol/server'
import { Refusal } from '../platform/errors.ts'
import type { ProjectId } from '../platform/ids.ts'
import type { ApiCaller } from '../projects/projects.ts'
import { triggerResponse } from '../triggers/triggers.ts'
import type { McpOptions } from './asked.ts'
import { docsPages, readDocsPage } from './docs-pages.ts'
import { mayUse } from './tools.ts'

const mostCampaigns = 100
const mostTriggers = 50

const json = 'application/json'
const campaigns = 'tidings://campaigns'
const triggers = 'tidings://triggers'
const docs = 'tidings://docs'

/** The skill that shows the same, and that a key's policy must allow. */
const skillOf = { [campaigns]: 'list-campaigns', [triggers]: 'get-trigger' } as const

/** What a client can read without calling a tool: campaigns, recent triggers, and pages of the docs. */
export function createResources({ campaigns: saved, triggers: accepted }: Omit<McpOptions, 'agents' | 'log'>) {
  const newest = async (projectId: ProjectId) =>
    (await saved.newest(projectId, { text: undefined, limit: mostCampaigns })).map(({ id, version, definition }) => ({
      campaignId: id,
      name: definition.name,
      status: definition.status,
      version
    }))

  async function campaign(projectId: ProjectId, id: string) {
    const { version, definition } = await saved.saving.get(projectId, id)
    return { version, ...definition }
  }

  const recent = async (projectId: ProjectId) =>
    (await accepted.list(projectId, { from: null, until: null }, null, mostTriggers)).map(triggerResponse)

  /** The content of a resource; undefined where there is none of that name. */
  async function contentOf(caller: ApiCaller, uri: string): Promise<{ mimeType: string; text: string } | undefined> {
    const { id: projectId } = caller.project
    const [, kind, id] = /^(tidings:\/\/[a-z]+)(?:\/(.+))?$/.exec(uri) ?? []
    if (kind === docs && id) return readDocsPage(id)
    if (kind !== campaigns && kind !== triggers) return undefined
    if (!mayUse(caller, skillOf[kind])) return undefined
    const name = id === undefined ? undefined : decoded(id)
    const value =
      kind === campaigns
        ? name === undefined
          ? { campaigns: await newest(projectId) }
          : await campaign(projectId, name)
        : name === undefined
          ? { triggers: await recent(projectId) }
          : triggerResponse(await accepted.get(projectId, name))
    return { mimeType: json, text: JSON.stringify(value, null, 2) }
  }

  return {
    templates: {
      resourceTemplates: [
        { uriTemplate: `${campaigns}/{campaignId}`, name: 'campaign', title: 'A campaign', mimeType: json },
        { uriTemplate: `${triggers}/{triggerId}`, name: 'trigger', title: 'A trigger with its counts', mimeType: json }
      ]
    } satisfies ListResourceTemplatesResult,

    async list(caller: ApiCaller): Promise<ListResourcesResult> {
      const listed = mayUse(caller, skillOf[campaigns]) ? await newest(caller.project.id) : []
      const lists = [
        { uri: campaigns, name: 'campaigns', title: `The newest ${mostCampaigns} campaigns`, mimeType: json },
        { uri: triggers, name: 'triggers', title: `The newest ${mostTriggers} triggers`, mimeType: json }
      ]
      return {
        resources: [
          ...lists.filter(({ uri }) => mayUse(caller, skillOf[uri as keyof typeof skillOf])),
          ...docsPages.map(({ name, title }) => ({ uri: `${docs}/${name}`, name, title, mimeType: 'text/markdown' })),
          ...listed.map(({ campaignId, name }) => ({
            uri: `${campaigns}/${encodeURIComponent(campaignId)}`,
            name: campaignId,
            title: name,
            mimeType: json
          }))
        ]
      }
    },

    async read(caller: ApiCaller, uri: string): Promise<ReadResourceResult> {
      const content = await contentOf(caller, uri).catch((error: unknown) => {
        if (error instanceof Refusal && error.code !== 'unavailable') return undefined
        throw error
      })
      if (!content) throw new ResourceNotFoundError(uri.slice(0, 300), 'There is no such resource for this key.')
      return { contents: [{ uri, ...content }] }
    }
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
