/**
 * Renders a form with one button.
 * @param about the subject of the button, for screen readers.
 */
export function ButtonForm({
  action,
  fields,
  text,
  about,
}: {
  readonly action: string
  readonly fields: Readonly<Record<string, string>>
  readonly text: string
  readonly about: string
}) {
  return (
    <form method="post" action={action}>
      {Object.entries(fields).map(([name, value]) => (
        <input type="hidden" name={name} value={value} />
      ))}
      <button type="submit" class="quiet" aria-label={`${text}: ${about}`}>
        {text}
      </button>
    </form>
  )
}
