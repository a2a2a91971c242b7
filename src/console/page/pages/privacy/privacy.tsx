import { useHasRole } from '../../api/session.ts'
import { PageLayout } from '../../parts/page.tsx'
import { PageTabs } from '../../parts/page-tabs.tsx'
import { EraseUser } from './erase-user.tsx'
import { Erasures } from './erasures.tsx'
import { VerifyReceipt } from './verify-receipt.tsx'

/** Users who were erased, and the receipts that prove it. */
export function Privacy() {
  const canErase = useHasRole('admin')
  return (
    <PageLayout
      title="Privacy"
      about="Erased users, with receipts that prove it and name no one."
      docs="guides/privacy#erasure-with-proof"
      actions={canErase && <EraseUser label="Erase a user" />}
    >
      <PageTabs
        tabs={[
          ['erasures', 'Erasures', <Erasures key="erasures" />],
          ['verify', 'Verify a receipt', <VerifyReceipt key="verify" />]
        ]}
      />
    </PageLayout>
  )
}
