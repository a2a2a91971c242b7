import { PageOf } from '../../parts/page.tsx'
import { FilteredMessages } from './message-filters.tsx'

export const Messages = () => (
  <PageOf title="Messages" about="What was sent to whom, and what became of it. A line for each device.">
    <FilteredMessages refetchMs={3_000} />
  </PageOf>
)
