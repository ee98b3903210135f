import { ownValue } from '../core/own-value.ts'

/** A group of guides, in reading order. */
export interface Section {
  readonly title: string
  /** The guides' names in `/docs/{slug}` and `docs/{slug}.md`. */
  readonly slugs: readonly string[]
}

/** All guides, in reading order. */
export const sections: readonly Section[] = [
  { title: 'Start', slugs: ['getting-started', 'moving-in', 'console'] },
  { title: 'Status pages', slugs: ['status-pages', 'private-pages', 'subscribers', 'custom-domains', 'feeds'] },
  { title: 'Monitoring', slugs: ['monitors', 'uptime', 'objectives', 'alerts', 'blacklist-checks'] },
  { title: 'API', slugs: ['graphql', 'live-protocol', 'rest', 'command-line', 'configuration'] },
  {
    title: 'Operation',
    slugs: ['running', 'settings', 'deployment', 'backup-and-upgrade', 'health', 'resolver', 'mail', 'billing'],
  },
  { title: 'More', slugs: ['contributing', 'performance', 'security', 'data-sources', 'changelog'] },
]

/** Returns the file of a guide, relative to the repository. */
export function fileOf(slug: string): string {
  return ownValue(atTheRoot, slug) ?? `docs/${slug}.md`
}

/** The guides that stand where readers of a repository look for them. */
const atTheRoot: Readonly<Record<string, string>> = { changelog: 'CHANGELOG.md', security: 'SECURITY.md' }

/** Returns the path under which the file of a guide is served; null for other files. */
export function pathOfFile(file: string): string | null {
  const slug = sections.flatMap(({ slugs }) => slugs).find((each) => fileOf(each) === file)
  return slug === undefined ? null : `/docs/${slug}`
}
