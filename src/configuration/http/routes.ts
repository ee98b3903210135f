import { Hono } from 'hono'
import { staticText } from '../../http/assets/static-text.ts'
import { configurationSchema, SCHEMA_PATH } from '../json-schema.ts'

const headers = {
  'content-type': 'application/schema+json',
  'access-control-allow-origin': '*',
  'x-content-type-options': 'nosniff',
}

/** Serves the JSON Schema of configuration files, for editors. */
export function configurationRoutes(): Hono {
  return new Hono().get(
    SCHEMA_PATH,
    staticText(() => JSON.stringify(configurationSchema()), headers),
  )
}
