import { Button, Modal, SimpleGrid, Stack, Text, Title } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import type { Preview } from '../../../../../wire.ts'
import { languageName } from '../message/language-name.ts'
import { MissingValues, type Sample, SampleScreen } from './sample-message.tsx'

type Placed = Preview['texts'][number]

/** `Step second · Variant a · German (de)`, from the parts that there are. */
const labelOf = ({ step, variant, language }: Placed, alone: boolean) =>
  [
    step && `Step ${step}`,
    variant && `Variant ${variant}`,
    language ? languageName(language) : !alone && 'Default language'
  ]
    .filter(Boolean)
    .join(' · ')

/** A button that shows every step, variant and language of the campaign side by side, as one person would get it. */
export function CompareButton({ texts, sample }: { texts: Placed[]; sample: Sample | undefined }) {
  const [opened, { open, close }] = useDisclosure()
  if (texts.length < 2) return null
  const oneLanguage = texts.every(({ language }) => language === null)
  return (
    <>
      <Button variant="light" size="xs" w="fit-content" onClick={open}>
        Compare all {texts.length} texts
      </Button>
      <Modal opened={opened} onClose={close} title="All texts" size="xl">
        <Stack>
          <Text size="sm" c="dimmed">
            As {sample ? (sample.project_user_id ?? 'an anonymous user') : 'a user without properties'} would see them.
          </Text>
          <SimpleGrid cols={{ base: 1, xs: 2, md: 3 }}>
            {texts.map((text) => {
              const label = labelOf(text, oneLanguage)
              return (
                <div key={label}>
                  <Title order={3} size="h6" mb={4}>
                    {label}
                  </Title>
                  <SampleScreen
                    platform={sample?.platform ?? 'IOS'}
                    label={`Screen: ${label}`}
                    content={text.content}
                  />
                  {text.reason && <Text c="var(--mantine-color-error)">{text.reason}</Text>}
                  <MissingValues names={text.missing} />
                </div>
              )
            })}
          </SimpleGrid>
        </Stack>
      </Modal>
    </>
  )
}
