import { Alert, Button, Group, SimpleGrid, Skeleton, Stack, Text } from '@mantine/core'
import { useProject } from '../../api/session.ts'
import { PageLayout } from '../../parts/page.tsx'
import { PhoneRow } from '../../parts/phone/phone.tsx'
import { EmptyState, ErrorAlert } from '../../parts/states.tsx'
import { DocsLink, plural } from '../../parts/texts.tsx'
import { useUrlState } from '../../parts/url-state.ts'
import { AddDevice } from './add-device.tsx'
import { ChannelActivity } from './channel-activity.tsx'
import { Filters, usePhoneFilters } from './filters.tsx'
import { GatewayConditions } from './gateway-conditions.tsx'
import { useInbox } from './inbox.ts'
import { PhoneCard } from './phone-card.tsx'
import { useNow, usePhones } from './phones.ts'
import { RequestDetail } from './request-detail.tsx'
import { Requests } from './requests.tsx'
import { SendPush } from './send-push.tsx'

export function Lab() {
  const live = useProject()?.mode === 'live'
  return (
    <PageLayout
      title="Device lab"
      about={
        <>
          Simulated devices. Anything you send to them shows up here. <DocsLink to="guides/simulator" />
        </>
      }
    >
      {live ? (
        <EmptyState title="This project is live">
          Its pushes go to real devices. Only projects in simulator mode have a device lab.
        </EmptyState>
      ) : (
        <>
          <SimpleGrid cols={{ base: 1, md: 2 }}>
            <AddDevice />
            <SendPush />
            <ChannelActivity />
            <GatewayConditions />
          </SimpleGrid>
          <Simulation />
        </>
      )}
    </PageLayout>
  )
}

/** The devices, the gateways between service and devices, and the requests they received. */
function Simulation() {
  const inbox = useInbox()
  const [request, setRequest] = useUrlState('request')
  return (
    <>
      {inbox.state === 'lost' && (
        <Alert color="orange" role="status">
          Connection lost. Missed pushes appear after reconnecting.
        </Alert>
      )}
      {inbox.error && <ErrorAlert error={inbox.error} />}
      <Phones show={setRequest} />
      <Requests items={inbox.items} show={setRequest} />
      <RequestDetail id={request || undefined} close={() => setRequest(null)} />
    </>
  )
}

function Phones({ show }: { show: (item: string) => void }) {
  const filters = usePhoneFilters()
  const list = usePhones(filters.filters)
  const now = useNow()
  const { phones } = list
  return (
    <Stack gap="sm" component="section" aria-label="Devices">
      <Group justify="space-between">
        <Filters {...filters} />
        <Text size="sm" c="dimmed" role="status">
          {list.isSuccess &&
            phones.length > 0 &&
            `${plural(phones.length, 'device')}${list.hasNextPage ? ' shown' : ''}`}
        </Text>
      </Group>
      {list.error && phones.length === 0 && <ErrorAlert error={list.error} retry={list.refetch} />}
      {list.isPending && <Skeleton height={520} width={260} radius={38} />}
      {list.isSuccess && phones.length === 0 && <NoPhones filtered={filters.filtered} />}
      <PhoneRow>
        {phones.map((device) => (
          <PhoneCard key={device.id} device={device} now={now} show={show} />
        ))}
      </PhoneRow>
      {list.hasNextPage && (
        <Button variant="default" loading={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
          Show more devices
        </Button>
      )}
    </Stack>
  )
}

const NoPhones = ({ filtered }: { filtered: boolean }) =>
  filtered ? (
    <EmptyState title="No devices match">Clear a filter to see more.</EmptyState>
  ) : (
    <EmptyState title="No devices yet">Add one above. It registers itself the way your app does.</EmptyState>
  )
