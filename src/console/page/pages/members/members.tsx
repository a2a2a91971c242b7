import { PageLayout } from '../../parts/page.tsx'
import { DocsLink } from '../../parts/texts.tsx'
import { MemberList } from './member-list.tsx'

/** Everyone who can sign in, with their roles in the installation and in projects. */
export function Members() {
  return (
    <PageLayout
      title="Members"
      about={
        <>
          People who can sign in, and their roles. Programs use keys and tokens. <DocsLink to="guides/people" />
        </>
      }
    >
      <MemberList />
    </PageLayout>
  )
}
