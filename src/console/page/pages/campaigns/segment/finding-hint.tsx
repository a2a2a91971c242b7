import { Anchor } from '@mantine/core'
import type { Finding } from './findings.ts'
import { Hint } from './hint.tsx'

/** A warning with a button that makes the change it suggests. */
export const FindingHint = ({ finding, apply }: { finding: Finding | undefined; apply: (finding: Finding) => void }) =>
  finding ? (
    <Hint>
      {finding.text}{' '}
      {finding.label && (
        <>
          <Anchor component="button" type="button" size="xs" onClick={() => apply(finding)}>
            {finding.label}
          </Anchor>
          {finding.change?.attribute ? '?' : ''}
        </>
      )}
    </Hint>
  ) : null
