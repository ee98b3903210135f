import { Hono } from 'hono'
import { staticText } from '../../http/static-text.ts'
import { configurationSchema, SCHEMA_PATH } from '../json-schema.ts'

const headers = {
  'content-type': 'application/schema+json',
  'access-control-allow-origin': '*',
  'x-content-type-options': 'nosniff',
}

/** The JSON Schema of configuration files, which editors read. */
export function configurationRoutes(): Hono {
  return new Hono().get(
    SCHEMA_PATH,
    staticText(() => JSON.stringify(configurationSchema()), headers),
  )
}
