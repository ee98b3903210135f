import { stringify } from 'yaml'
import { escapeText, sections } from '../configuration/sections.ts'
import { translateBetterStack } from './better-stack.ts'
import { translateBlackboxExporter } from './blackbox-exporter.ts'
import { translateCachet } from './cachet.ts'
import { translateCachetDatabase } from './cachet-database.ts'
import { finished } from './finish.ts'
import { translateGatus } from './gatus.ts'
import { translateHetrixTools } from './hetrix-tools.ts'
import type { Installation } from './installation.ts'
import { translateInstatus } from './instatus.ts'
import { translateOpenStatus } from './open-status.ts'
import type { Source } from './source-names.ts'
import { translateStatuspage } from './statuspage.ts'
import type { Drafted, Translation } from './translation.ts'
import { translateUpptime } from './upptime.ts'
import { translateUptimeKuma } from './uptime-kuma.ts'
import { translateUptimeKumaDatabase } from './uptime-kuma-database.ts'
import { translateUptimeRobot } from './uptime-robot.ts'

/** The translator of each source. */
const translators = {
  'uptime-kuma': translateUptimeKuma,
  gatus: translateGatus,
  statuspage: translateStatuspage,
  openstatus: translateOpenStatus,
  cachet: translateCachet,
  uptimerobot: translateUptimeRobot,
  betterstack: translateBetterStack,
  instatus: translateInstatus,
  hetrixtools: translateHetrixTools,
  upptime: translateUpptime,
  'blackbox-exporter': translateBlackboxExporter,
} as const satisfies Record<Source, (text: string) => Drafted>

/** Translates the text of an installation of a source. @throws Unreadable. */
export function translate(installation: Installation, text: string): Translation {
  return finished(translators[installation.source](text), installation)
}

/** Translates a database of an installation. @param path the path of a private copy. @throws Unreadable. */
export function translateDatabase(installation: Installation, path: string): Translation {
  const translateFile = installation.source === 'cachet' ? translateCachetDatabase : translateUptimeKumaDatabase
  return finished(translateFile(path), installation)
}

/** Writes a translation as a configuration file, in compact YAML because requests have a size limit. */
export function writeTranslation({ objects, hasVariables }: Pick<Translation, 'objects' | 'hasVariables'>): string {
  const filled = sections.filter((section) => objects[section].size > 0)
  const parts = filled.map((section) => [section, Object.fromEntries(objects[section])] as const)
  const value = { allclear: 1, ...Object.fromEntries(parts) }
  return stringify(hasVariables ? value : escaped(value), {
    collectionStyle: 'flow',
    flowCollectionPadding: false,
    lineWidth: 0,
    aliasDuplicateObjects: false,
  })
}

function escaped(value: unknown): unknown {
  if (typeof value === 'string') return escapeText(value)
  if (Array.isArray(value)) return value.map(escaped)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, escaped(field)]))
}
