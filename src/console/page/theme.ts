import { Anchor, type CSSVariablesResolver, createTheme } from '@mantine/core'

export const theme = createTheme({
  primaryColor: 'cyan',
  // White text on this shade has a contrast of 5.4 to 1.
  primaryShade: 9,
  defaultRadius: 'md',
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: {
    // Links are underlined, because colour alone does not mark them for everyone.
    Anchor: Anchor.extend({ defaultProps: { underline: 'always', inherit: true } }),
    // Badges read as written, not in capitals.
    Badge: { defaultProps: { tt: 'none' } },
    // Set without Modal.extend, which would load the code of dialogs with the first page.
    Modal: { defaultProps: { closeButtonProps: { 'aria-label': 'Close' } } },
    // The library makes the title bar of a dialog a second banner of the page.
    ModalHeader: { defaultProps: { role: 'presentation' } },
    // Descriptions below the inputs keep neighbouring inputs on one line.
    InputWrapper: { defaultProps: { inputWrapperOrder: ['label', 'input', 'description', 'error'] } }
  }
})

/** The library lightens a button under the pointer, and white text on that shade has a contrast of 4.3 to 1. */
const hover = { '--mantine-color-cyan-filled-hover': 'color-mix(in srgb, var(--mantine-color-cyan-9) 85%, black)' }

/** Darker shades for colours whose shade in the library has a contrast below 4.5 to 1. */
export const readable: CSSVariablesResolver = ({ colors }) => {
  const each = (text: (name: string) => string) =>
    Object.fromEntries(Object.keys(colors).map((name) => [`--mantine-color-${name}-light-color`, text(name)]))
  return {
    variables: {},
    light: {
      ...hover,
      ...each((name) => `color-mix(in srgb, var(--mantine-color-${name}-9) 70%, black)`),
      '--mantine-color-dimmed': 'var(--mantine-color-gray-7)',
      '--mantine-color-placeholder': 'var(--mantine-color-gray-7)',
      '--mantine-color-error': 'var(--mantine-color-red-9)'
    },
    dark: {
      ...hover,
      ...each((name) => `var(--mantine-color-${name}-1)`),
      '--mantine-color-dimmed': 'var(--mantine-color-dark-1)',
      '--mantine-color-placeholder': 'var(--mantine-color-dark-1)',
      '--mantine-color-error': 'var(--mantine-color-red-4)'
    }
  }
}
