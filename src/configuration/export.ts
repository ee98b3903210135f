import { readManagedObjects } from '../account/managed-object.ts'
import type { Database } from '../core/context.ts'
import type { SecretBox } from '../core/secret-box.ts'
import type { Existing } from './current.ts'
import { createDigest, readExisting } from './current.ts'
import { withoutDefaults } from './defaults.ts'
import { withReferences } from './fields.ts'
import { SCHEMA_PATH } from './json-schema.ts'
import { assignKeys } from './keys.ts'
import type { Section } from './sections.ts'
import { escapeText, sections } from './sections.ts'
import { writeYamlText } from './yaml-process.ts'

const COMMENT = `# Secrets are null, which keeps them as they are. To set one, write \${NAME} and set NAME in the environment.\n`

/** Writes an organization’s objects as a file. Planning that file yields no changes. */
export async function exportConfiguration(
  ctx: { readonly db: Database; readonly seal: SecretBox; readonly site: { readonly baseUrl: string } },
  organizationId: string,
): Promise<string> {
  const existing = await readExisting(ctx, organizationId, createDigest(ctx.seal, organizationId))
  const managed = await readManagedObjects(ctx, organizationId)
  const keys = assignKeys(existing, managed)
  const written = (each: Existing) => [
    keys.keyOf(each.id),
    escaped(
      withoutDefaults(
        each.section,
        withReferences(each.fields, (_section, id) => keys.keyOf(id)),
      ),
    ),
  ]
  const ofSection = (section: Section) => existing.filter((each) => each.section === section).map(written)
  const parts = sections.map((section) => [section, Object.fromEntries(ofSection(section))] as const)
  const filled = parts.filter(([, objects]) => Object.keys(objects).length > 0)
  const editors = `# yaml-language-server: $schema=${ctx.site.baseUrl}${SCHEMA_PATH}\n`
  return writeYamlText(editors + COMMENT, { allclear: 1, ...Object.fromEntries(filled) }, organizationId)
}

function escaped(value: unknown): unknown {
  if (typeof value === 'string') return escapeText(value)
  if (Array.isArray(value)) return value.map(escaped)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, escaped(field)]))
}
