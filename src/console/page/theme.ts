import { Anchor, type CSSVariablesResolver, createTheme } from '@mantine/core'

export const theme = createTheme({
  primaryColor: 'cyan',
  // White on it can be read: 5.4 to 1.
  primaryShade: 9,
  defaultRadius: 'md',
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: {
    // A link is told from the text around it by more than its colour.
    Anchor: Anchor.extend({ defaultProps: { underline: 'always', inherit: true } }),
    // By its name alone: the first page shows no dialog, and need not load one.
    Modal: { defaultProps: { closeButtonProps: { 'aria-label': 'Close' } } },
    // Fields beside each other stand in a line, whether one is explained or not.
    InputWrapper: { defaultProps: { inputWrapperOrder: ['label', 'input', 'description', 'error'] } }
  }
})

/** Where the library's own shades are too pale on their ground to be read by everyone (4.5 to 1). */
export const readable: CSSVariablesResolver = ({ colors }) => {
  const each = (text: (name: string) => string) =>
    Object.fromEntries(Object.keys(colors).map((name) => [`--mantine-color-${name}-light-color`, text(name)]))
  return {
    variables: {},
    light: {
      ...each((name) => `color-mix(in srgb, var(--mantine-color-${name}-9) 70%, black)`),
      '--mantine-color-dimmed': 'var(--mantine-color-gray-7)',
      '--mantine-color-placeholder': 'var(--mantine-color-gray-7)',
      '--mantine-color-error': 'var(--mantine-color-red-9)'
    },
    dark: {
      ...each((name) => `var(--mantine-color-${name}-1)`),
      '--mantine-color-dimmed': 'var(--mantine-color-dark-1)',
      '--mantine-color-placeholder': 'var(--mantine-color-dark-1)',
      '--mantine-color-error': 'var(--mantine-color-red-4)'
    }
  }
}
