import { type List, listOf } from './pages.ts'
import type { CallOptions, Input, Transport } from './request.ts'
import type {
  CampaignPreview,
  CampaignStats,
  CampaignSummary,
  Explanation,
  Trigger,
  TriggerRequest
} from './schemas.ts'
import { watchTrigger } from './watch.ts'

/** The query without the choice of a format: results are objects. */
type CampaignPeriod = Omit<NonNullable<Input<'getCampaignStats'>['query']>, 'format'>
type ProjectPeriod = Omit<NonNullable<Input<'getProjectStats'>['query']>, 'format'>

export function campaignsOf(transport: Transport) {
  const { call } = transport
  const of = (campaign_id: string) => ({ path: { campaign_id } })
  return {
    list: (filter: Input<'listCampaigns'>['query'] = {}, options?: CallOptions): List<CampaignSummary> =>
      listOf(transport, 'listCampaigns', { query: filter }, options),
    get: (campaignId: string, options?: CallOptions): Promise<CampaignSummary> =>
      call('getCampaign', of(campaignId), options),
    /** Triggers a campaign and returns the id of the trigger. It is sent afterwards: watch it with `triggers.watch`. */
    async trigger(campaignId: string, request: TriggerRequest = {}, options?: CallOptions): Promise<string> {
      return (await call('triggerCampaign', { ...of(campaignId), body: request }, options)).trigger_id
    },
    /** The audience and a rendered sample of a trigger, without sending anything. */
    preview: (campaignId: string, request: TriggerRequest = {}, options?: CallOptions): Promise<CampaignPreview> =>
      call('previewCampaign', { ...of(campaignId), body: request }, { ...options, repeats: 'always' }),
    /** What came of a campaign: in all, over time and by group. */
    stats: (campaignId: string, query: CampaignPeriod = {}, options?: CallOptions): Promise<CampaignStats> =>
      call('getCampaignStats', { ...of(campaignId), query }, options)
  }
}

export function triggersOf(transport: Transport) {
  const { call } = transport
  const of = (trigger_id: string) => ({ path: { trigger_id } })
  return {
    list: (filter: Input<'listTriggers'>['query'] = {}, options?: CallOptions): List<Trigger> =>
      listOf(transport, 'listTriggers', { query: filter }, options),
    get: (triggerId: string, options?: CallOptions): Promise<Trigger> => call('getTrigger', of(triggerId), options),
    /** After the response no further message is dispatched. */
    cancel: (triggerId: string, options?: CallOptions): Promise<Trigger> =>
      call('cancelTrigger', of(triggerId), { ...options, repeats: 'always' }),
    /** Moves a scheduled trigger to another time. */
    reschedule: (triggerId: string, sendAt: Date | string, options?: CallOptions): Promise<Trigger> => {
      const send_at = typeof sendAt === 'string' ? sendAt : sendAt.toISOString()
      return call('rescheduleTrigger', { ...of(triggerId), body: { send_at } }, options)
    },
    /** Why a user received the message of a trigger, or why not. */
    explain: (triggerId: string, userId: string, options?: CallOptions): Promise<Explanation> =>
      call('explainTrigger', { ...of(triggerId), query: { project_user_id: userId } }, options),
    /** The trigger whenever it changes, until it has ended: `for await (const { counts } of tidings.triggers.watch(id))`. */
    watch: (triggerId: string, { signal }: Pick<CallOptions, 'signal'> = {}): AsyncIterable<Trigger> =>
      watchTrigger(transport, triggerId, signal),
    /** Waits until a trigger has ended. A scheduled one may take days: pass a signal. */
    async ended(triggerId: string, { signal }: Pick<CallOptions, 'signal'> = {}): Promise<Trigger> {
      let last: Trigger | undefined
      for await (const trigger of watchTrigger(transport, triggerId, signal)) last = trigger
      return last!
    }
  }
}

export const statsOf =
  ({ call }: Transport) =>
  (query: ProjectPeriod = {}, options?: CallOptions) =>
    call('getProjectStats', { query }, options)
