import { Button, Table, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import type { Erasure } from '../../../../wire.ts'
import { useNameOf } from '../../api/actors.ts'
import { project } from '../../api/client.ts'
import { useProjectId } from '../../api/session.ts'
import { PageLayout } from '../../parts/page.tsx'
import { Panel } from '../../parts/panel.tsx'
import { Row } from '../../parts/row.tsx'
import { Loaded } from '../../parts/states.tsx'
import { SimpleTable } from '../../parts/table.tsx'
import { When } from '../../parts/texts.tsx'
import { erasedInWords, nameOfTable } from './words.ts'

/** One erasure: what went, what remains, and the proof. */
export function ReceiptPage() {
  const projectId = useProjectId()
  const { erasureId = '' } = useParams({ strict: false }) as { erasureId?: string }
  const path = `/erasures/${encodeURIComponent(erasureId)}`
  const erasure = useQuery({
    queryKey: ['erasure', projectId, erasureId],
    queryFn: () => project<Erasure>(projectId, 'GET', path)
  })
  return (
    <PageLayout
      title="Receipt"
      about="What an erasure removed. It names no one."
      docs="guides/privacy#erasure-with-proof"
      actions={
        erasure.data && (
          <Button
            component="a"
            variant="default"
            href={`/manage/v1/projects/${encodeURIComponent(projectId)}${path}`}
            download={`erasure-${erasureId}.json`}
          >
            Download JSON
          </Button>
        )
      }
    >
      <Loaded query={erasure}>{(found) => <Receipt erasure={found} />}</Loaded>
    </PageLayout>
  )
}

function Receipt({ erasure }: { erasure: Erasure }) {
  const nameOf = useNameOf()
  const { erasure_id, subject, actor, requested_at, completed_at, erased, remaining, signature } = erasure
  return (
    <>
      <Panel title="Summary">
        <Table withRowBorders={false}>
          <Table.Tbody>
            <Row name="Requested">
              <When at={requested_at} />
            </Row>
            <Row name="Completed">
              <When at={completed_at} />
            </Row>
            <Row name="By">
              <span title={actor}>{nameOf(actor)}</span>
            </Row>
            <Row name="Erased">{erasedInWords(erasure)}</Row>
            <Row name="Erasure ID">{erasure_id}</Row>
            <Row name="Subject">{subject}</Row>
            <Row name="Signature">{signature}</Row>
          </Table.Tbody>
        </Table>
      </Panel>
      <Panel title="Erased">
        <SimpleTable
          label="Erased rows"
          items={Object.entries(erased).filter(([, rows]) => rows > 0)}
          keyOf={([table]) => table}
          columns={[
            { name: 'What', show: ([table]) => nameOfTable(table) },
            { name: 'Table', show: ([table]) => table },
            { name: 'Rows', show: ([, rows]) => rows.toLocaleString() }
          ]}
        />
        <Text size="sm" c="dimmed" mt="xs">
          A row counts once, whether it was deleted or rewritten without the user.
        </Text>
      </Panel>
      <Panel title="Remains">
        {remaining.length === 0 ? (
          <Text size="sm">Nothing in the database. Backups that were made before still hold the user.</Text>
        ) : (
          <SimpleTable
            label="Remaining rows"
            items={remaining}
            keyOf={({ table, reason }) => `${table} ${reason}`}
            columns={[
              { name: 'What', show: ({ table }) => nameOfTable(table) },
              { name: 'Rows', show: ({ rows }) => (rows === 0 ? 'Not searched' : rows.toLocaleString()) },
              { name: 'Why', show: ({ reason }) => reason, width: 320 },
              { name: 'Until', show: ({ until }) => (until === null ? 'You change it' : <When at={until} />) }
            ]}
          />
        )}
      </Panel>
    </>
  )
}
