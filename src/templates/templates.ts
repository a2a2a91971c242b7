export { type Source, templateDepth, templatesOf, titleIn } from './content.ts'
export { createRenderer, type Rendered, type Renderer, type Rendering, ValuesMissing } from './renderer.ts'
export type { Recipient } from './rendering.ts'
export { isTemplate, readTemplate, TemplateFailed, templateRoots } from './template.ts'
