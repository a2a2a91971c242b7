import { Button, Modal, SimpleGrid, Stack, Text, Title } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { type CampaignDraft, everyText, type PlacedText } from './draft.ts'
import { useRenderedTexts } from './preview-query.ts'
import { type Sample, SampleMessage } from './sample-message.tsx'

interface Props {
  draft: CampaignDraft
  sample: Sample
  properties: string
}

/** A button that shows every step, variant and language of the campaign side by side, as one person would get it. */
export function CompareButton(props: Props) {
  const [opened, { open, close }] = useDisclosure()
  const texts = everyText(props.draft)
  if (texts.length < 2) return null
  return (
    <>
      <Button variant="light" size="xs" w="fit-content" onClick={open}>
        Compare all {texts.length} texts
      </Button>
      <Modal opened={opened} onClose={close} title="All texts" size="xl">
        {opened && <Comparison {...props} texts={texts} />}
      </Modal>
    </>
  )
}

function Comparison({ draft, sample, properties, texts }: Props & { texts: PlacedText[] }) {
  const rendered = useRenderedTexts(draft, texts, sample.device_id, properties)
  return (
    <Stack>
      <Text size="sm" c="dimmed">
        As {sample.project_user_id ?? 'an anonymous user'} would see them.
      </Text>
      <SimpleGrid cols={{ base: 1, xs: 2, md: 3 }}>
        {texts.map(({ label }, index) => {
          const { data, error } = rendered[index]!
          const [shown] = data?.sample ?? []
          return (
            <section key={label} aria-label={label}>
              <Title order={3} size="h6" mb={4}>
                {label}
              </Title>
              {error && <Text c="var(--mantine-color-error)">{error.message}</Text>}
              {shown && <SampleMessage {...shown} />}
            </section>
          )
        })}
      </SimpleGrid>
    </Stack>
  )
}
