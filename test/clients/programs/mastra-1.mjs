import { connect as connectBy } from './mastra.mjs'

export const connect = (service) => connectBy(service, '1.0')
