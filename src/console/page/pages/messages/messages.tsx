import { PageLayout } from '../../parts/page.tsx'
import { FilteredMessages } from './filtered-messages.tsx'
export const Messages = () => (
  <PageLayout title="Messages" about="Every message sent, one row per device." docs="guides/sending">
    <FilteredMessages />
  </PageLayout>
)
