import { Tabs } from '@mantine/core'
import type { ReactNode } from 'react'
import { useUrlState } from './url-state.ts'

export type Tab = [name: string, label: string, shown: ReactNode]

/** Tabs of a page. The URL names the open one. */
export function PageTabs({ tabs }: { tabs: Tab[] }) {
  const [chosen, choose] = useUrlState('tab')
  const open = tabs.some(([name]) => name === chosen) ? chosen : tabs[0]![0]
  return (
    <Tabs value={open} onChange={choose} keepMounted={false}>
      {/* On a phone the tabs scroll sideways instead of wrapping. */}
      <Tabs.List style={{ flexWrap: 'nowrap', overflowX: 'auto', overflowY: 'hidden' }}>
        {tabs.map(([name, label]) => (
          <Tabs.Tab key={name} value={name}>
            {label}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {tabs.map(([name, , shown]) => (
        <Tabs.Panel key={name} value={name} pt="md">
          {shown}
        </Tabs.Panel>
      ))}
    </Tabs>
  )
}
