import type { Child } from 'hono/jsx'
import type { Screen } from './screen.tsx'

/** Shows on an empty screen what to do first, with the button for it. */
export function FirstStep({
  screen,
  path,
  text,
  children,
}: {
  readonly screen: Screen
  /** The path of the button. */
  readonly path: string
  /** The label of the button, which only editors see. */
  readonly text: string
  readonly children: Child
}) {
  return (
    <section>
      <p class="lead">{children}</p>
      {screen.may('WRITE') ? (
        <p class="actions">
          <a class="button" href={screen.path(path)}>
            {text}
          </a>
        </p>
      ) : null}
    </section>
  )
}
