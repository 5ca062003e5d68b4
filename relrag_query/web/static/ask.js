// Answers come as they are found, and sources open beside them. Without this module every link and form works too.

const words = JSON.parse(document.body.dataset.words)
const answer = document.getElementById('answer')
const beside = document.getElementById('source')
const form = document.getElementById('ask')
let asked = null

/** The events of a stream, each as its name and its data. */
async function* events(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    text += value
    for (let end; (end = text.indexOf('\n\n')) >= 0; text = text.slice(end + 2)) {
      const [name, data] = text.slice(0, end).split('\n')
      yield [name.replace('event: ', ''), JSON.parse(data.replace('data: ', ''))]
    }
  }
}

function say(className, text) {
  const line = document.createElement('p')
  line.className = className
  line.dir = 'auto'
  text.split('`').forEach((part, number) => {
    const command = number % 2 ? document.createElement('code') : document.createTextNode(part)
    if (number % 2) command.textContent = part
    line.append(command)
  })
  answer.replaceChildren(line)
  return line
}

/** What the server rendered, as nodes: it is escaped there, and scripts in it would not run. */
function nodes(html) {
  return new DOMParser().parseFromString(html, 'text/html').body.childNodes
}

/** What a panel shows of it: of a whole page, such as one that says what went wrong, its main part. */
function content(html) {
  const page = new DOMParser().parseFromString(html, 'text/html')
  return (page.querySelector('main') ?? page.body).childNodes
}

async function ask(query) {
  asked?.abort()
  asked = new AbortController()
  document.body.classList.add('asked')
  close()
  answer.setAttribute('aria-busy', 'true')
  const line = say('looking', words.looking)
  let written = ''
  try {
    const response = await fetch(`/ask/stream?${query}`, { signal: asked.signal })
    if (!response.ok) throw new Error(response.status === 401 ? words.logged_out : words.failed)
    for await (const [name, data] of events(response)) {
      if (name === 'piece') {
        line.className = 'written'
        line.dir = 'auto'
        line.textContent = written += data
      } else if (name === 'answer') answer.replaceChildren(...nodes(data))
      else if (name === 'problem') say('notice', data.detail)
    }
  } catch (error) {
    if (error.name !== 'AbortError') say('notice', error.message)
  } finally {
    answer.removeAttribute('aria-busy')
  }
}

let opener = null

async function open(link) {
  opener = link
  const response = await fetch(`${link.getAttribute('href')}&part`)
  if (opener !== link) return
  const closing = document.createElement('button')
  closing.className = 'close'
  closing.textContent = words.close
  closing.addEventListener('click', close)
  beside.replaceChildren(closing, ...content(await response.text()))
  beside.hidden = false
  document.body.classList.add('opened')
  document.querySelectorAll('[data-beside][aria-current]').forEach((one) => one.removeAttribute('aria-current'))
  link.setAttribute('aria-current', 'true')
  beside.focus({ preventScroll: matchMedia('(min-width: 60rem)').matches })
  beside.querySelector('mark')?.scrollIntoView({ block: 'nearest' })
  pictures(beside)
}

function close() {
  if (!beside || beside.hidden) return
  beside.hidden = true
  beside.replaceChildren()
  document.body.classList.remove('opened')
  opener?.removeAttribute('aria-current')
  opener?.focus()
  opener = null
}

/** A page that cannot be shown says why in place of its picture. */
function pictures(within) {
  for (const picture of within.querySelectorAll('[data-picture]')) {
    picture.addEventListener('error', async () => {
      const response = await fetch(picture.src)
      picture.closest('figure').replaceChildren(...nodes(response.ok ? '' : await response.text()))
    })
  }
}

if (form && answer) {
  document.addEventListener('submit', (event) => {
    if (!event.target.matches('form.question')) return
    event.preventDefault()
    const query = new URLSearchParams([...new FormData(event.target)].filter(([, value]) => value))
    history.pushState(null, '', `/ask?${query}`)
    document.title = `${query.get('q')} · relrag`
    form.querySelector('h1')?.classList.add('hidden')
    form.elements.q.value = query.get('q')
    scrollTo({ top: 0 })
    ask(query)
  })
  addEventListener('popstate', () => location.reload())
}

/** An answer as text: question, excerpts or what was written, and numbered sources with their links. */
function asText() {
  const lines = [form.elements.q.value, '']
  for (const part of answer.querySelectorAll('blockquote, .written')) lines.push(marked(part), '')
  for (const source of answer.querySelectorAll('.sources > li:not(.also)')) {
    const link = source.querySelector('a')
    const about = [...source.querySelectorAll('.about > *')].map((one) => one.textContent.trim()).filter(Boolean)
    lines.push(`[${source.value}] ${link.textContent}, ${about.join(', ')}`, `    ${link.href}`)
  }
  return `${lines.join('\n').trim()}\n`
}

/** The text of a part, its lines on lines of their own, with citations as [1]. */
function marked(part) {
  const copy = part.cloneNode(true)
  for (const cite of copy.querySelectorAll('.cite')) cite.textContent = ` [${cite.textContent}]`
  copy.querySelectorAll('footer').forEach((one) => one.remove())
  const lines = copy.querySelectorAll('.line')
  return (lines.length ? [...lines].map((line) => line.textContent).join('\n') : copy.textContent).trim()
}

function save(text) {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([text], { type: 'text/plain' }))
  link.download = 'answer.txt'
  link.click()
  URL.revokeObjectURL(link.href)
}

const keep = {
  copy: () => navigator.clipboard.writeText(asText()).then(() => words.copied),
  link: () => navigator.clipboard.writeText(location.href).then(() => words.copied),
  save: async () => { save(asText()); return words.saved },
}

document.addEventListener('click', async (event) => {
  const button = event.target.closest('[data-keep]')
  if (!button) return
  const status = button.parentElement.querySelector('[role=status]')
  // a page that came without TLS from another machine has no clipboard
  status.textContent = await keep[button.dataset.keep]().catch(() => words.not_allowed)
})

/** They need this module, so they are hidden without it. */
function showKeep() {
  answer?.querySelectorAll('.keep[hidden]').forEach((one) => { one.hidden = false })
}
if (answer) new MutationObserver(showKeep).observe(answer, { childList: true })
showKeep()

if (beside) {
  document.addEventListener('click', (event) => {
    const link = event.target.closest('[data-beside]')
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return
    event.preventDefault()
    open(link)
  })
  document.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') close()
  })
}
pictures(document)
