/** `event` is the event of an event-triggered campaign: the same values as `trigger`. */
export const templateRoots = ['trigger', 'event', 'user', 'device', 'campaign'] as const
export type TemplateRoot = (typeof templateRoots)[number]

/** The names of the roots that have the same ones always. */
export const fixedNames: Readonly<Partial<Record<TemplateRoot, readonly string[]>>> = {
  device: ['id', 'platform', 'locale', 'language', 'timezone'],
  campaign: ['id', 'name']
}
