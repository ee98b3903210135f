import { writeFile } from 'node:fs/promises'
import { root } from '../core/process/paths.ts'
import { printedSchema } from './schema.ts'

// `npm run schema` writes the schema to `schema.graphql`.
await writeFile(new URL('schema.graphql', root), printedSchema())
