import type { Finding } from '../../../diagnosis/finding.ts'
import { Table } from '../../../http/page/table.tsx'
import type { OperatorScreen } from './operator-screen.tsx'

const severityNames = { ok: 'OK', warning: 'Warning', error: 'Error' } as const

/** Shows the findings of an examination of the service, the worst first, each with its fix. */
export async function showHealth(screen: OperatorScreen): Promise<Response> {
  const { diagnosis, route } = screen.ctx
  const findings = (await diagnosis?.examine(route ?? null)) ?? []
  const problems = findings.filter(({ severity }) => severity !== 'ok')
  const content = (
    <>
      {problems.length === 0 ? <p class="all-clear">All is well.</p> : null}
      {problems.length === 0 ? null : (
        <ul class="rows" id="problems">
          {problems.map((finding) => (
            <li id={finding.code}>
              <FindingText finding={finding} />
              <span class="row-facts">
                {finding.subject} · {severityNames[finding.severity]}
              </span>
            </li>
          ))}
        </ul>
      )}
      <Table label="What was examined" heads={['Examined', 'Result']}>
        {findings
          .filter(({ severity }) => severity === 'ok')
          .map(({ subject, message }) => (
            <tr>
              <th scope="row">{subject}</th>
              <td>{message}</td>
            </tr>
          ))}
      </Table>
      <p>
        “allclear doctor” prints the same in a terminal. The codes are in the{' '}
        <a href="/docs/health#examination">documentation</a>.
      </p>
    </>
  )
  return screen.show('Health', 'health', content)
}

/** The sentence of a finding, and its fix. */
export function FindingText({ finding }: { readonly finding: Finding }) {
  const { severity, message, fix } = finding
  return (
    <span>
      <span class={severity === 'ok' ? undefined : 'problem'}>{message}</span>
      {fix === null ? null : (
        <>
          <br />
          <code>{fix}</code>
        </>
      )}
    </span>
  )
}
