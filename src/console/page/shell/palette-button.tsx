import { Button, Kbd } from '@mantine/core'
import { lazy, Suspense, useEffect, useState } from 'react'
import { SearchIcon } from '../parts/icons.tsx'

/** Loaded when it is first opened. */
const Palette = lazy(() => import('./palette/palette.tsx').then(({ Palette }) => ({ default: Palette })))

const isMac = /Mac|iPhone|iPad/.test(navigator.platform)
const shortcut = isMac ? '⌘K' : 'Ctrl K'

/** Opens the command palette; Ctrl-K or ⌘K does so on every page. */
export function PaletteButton() {
  const [opened, setOpened] = useState(false)
  // Stays mounted once it was opened, so that closing can be animated and the next opening is instant.
  const [wanted, setWanted] = useState(false)
  const open = () => {
    setWanted(true)
    setOpened(true)
  }
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return
      event.preventDefault()
      setWanted(true)
      setOpened((before) => !before)
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [])
  return (
    <>
      <Button
        variant="default"
        size="xs"
        leftSection={<SearchIcon />}
        onClick={open}
        aria-label={`Search ${shortcut}`}
        aria-keyshortcuts={isMac ? 'Meta+K' : 'Control+K'}
        styles={{ section: { marginInlineEnd: 0 } }}
        rightSection={
          <Kbd size="xs" ml={6} visibleFrom="sm">
            {shortcut}
          </Kbd>
        }
      />
      {wanted && (
        <Suspense fallback={null}>
          <Palette opened={opened} close={() => setOpened(false)} />
        </Suspense>
      )}
    </>
  )
}
