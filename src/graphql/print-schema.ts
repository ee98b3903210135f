import { writeFile } from 'node:fs/promises'
import { root } from '../paths.ts'
import { printedSchema } from './schema.ts'

// `npm run schema`: writes what the code says to where callers look.
await writeFile(new URL('schema.graphql', root), printedSchema())
