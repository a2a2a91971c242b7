import { Tabs } from '@mantine/core'
import { useNavigate, useSearch } from '@tanstack/react-router'
import type { ReactNode } from 'react'

/** A choice that is part of the address: a reload keeps it, and a link leads to it. Empty: not chosen. */
export function useInUrl(name: string): [value: string, set: (value: string | null) => void] {
  const search = useSearch({ strict: false }) as Record<string, unknown>
  const navigate = useNavigate()
  const set = (value: string | null) =>
    void navigate({
      to: '.',
      search: ((before: object) => ({ ...before, [name]: value || undefined })) as never,
      replace: true
    })
  const value = search[name]
  return [value === undefined || value === null ? '' : String(value), set]
}

/** Tabs of a page; which one is open is in the address. */
export function PageTabs({ tabs }: { tabs: [name: string, label: string, shown: ReactNode][] }) {
  const [chosen, choose] = useInUrl('tab')
  const open = tabs.some(([name]) => name === chosen) ? chosen : tabs[0]![0]
  return (
    <Tabs value={open} onChange={choose} keepMounted={false}>
      {/* On a phone they scroll sideways instead of breaking into rows. */}
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
