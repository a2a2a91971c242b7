import type { Campaign } from '../../../../../wire.ts'
import { DocsLink } from '../../../parts/texts.tsx'
import { Content } from '../message/content.tsx'
import { TranslatorFiles } from '../message/exchange.tsx'
import { WinnerRule } from '../message/experiment.tsx'
import { Winners } from '../message/winner.tsx'
import { OnMissing } from '../on-missing.tsx'
import { Section } from './section.tsx'

/** What the campaign sends. */
export const MessageStep = ({ campaign, round }: { campaign: Campaign | undefined; round: number }) => (
  <>
    <Section title="Content" about={<DocsLink to="reference/templates">How templates work</DocsLink>}>
      <Content key={round} />
      {campaign && !campaign.live_activity && <TranslatorFiles campaign={campaign} />}
    </Section>
    <WinnerRule />
    {campaign && <Winners campaign={campaign} />}
    <OnMissing />
  </>
)
