import { PageOf } from '../../parts/page.tsx'
import { FilteredMessages } from './message-filters.tsx'

export const Messages = () => (
  <PageOf title="Messages" about="Every message sent, one row per device.">
    <FilteredMessages refetchMs={3_000} />
  </PageOf>
)
