import { ActionIcon, type ActionIconProps } from '@mantine/core'
import type { ComponentPropsWithRef } from 'react'
import { useIdentity } from '../api/session.ts'
import { PersonIcon } from '../parts/icons.tsx'

/** The button in the header that opens the account menu. */
export function AccountButton(props: ActionIconProps & ComponentPropsWithRef<'button'>) {
  const { data } = useIdentity()
  return (
    <ActionIcon variant="default" aria-label="Account" aria-haspopup="menu" title={data?.name} {...props}>
      <PersonIcon />
    </ActionIcon>
  )
}
