import { writeFile } from 'node:fs/promises'
import { printedSchema } from './schema.ts'

// `npm run schema`: writes what the code says to where callers look.
await writeFile(new URL('../../schema.graphql', import.meta.url), printedSchema())
