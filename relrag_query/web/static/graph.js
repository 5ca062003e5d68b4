// Draws the graph. Places come from the server, so it looks the same whenever it is loaded.
import { NodeSquareProgram, Sigma, MultiUndirectedGraph } from './vendor/graph-libraries.js'

const words = JSON.parse(document.body.dataset.words)
/** A text with what stands in braces filled in. */
const fill = (text, values) => text.replace(/{(\w+)}/g, (_, name) => values[name])
const place = document.getElementById('graph')
/** what each type of edge is called */
const names = JSON.parse(place?.dataset.names ?? '{}')
const tooltip = document.getElementById('tooltip')
const dark = matchMedia('(prefers-color-scheme: dark)')
const COLOURS = {
  person: ['#2b6cb0', '#6aa9e9'],
  whatsapp_msg: ['#3d8b53', '#6fc487'],
  gmail: ['#b8433f', '#ec8580'],
  call_recording: ['#7656a5', '#b79be2'],
  document: ['#c47a20', '#e8ac5d'],
}
/** Types of edges in the order of their colours; types of relationships, which are any words, follow as they come. */
const types = ['sender', 'recipient', 'mentioned', 'participant', 'owner', 'attachment_of', 'reply_to', 'references', 'transcript_of', 'thread_member', 'chunk_of']
const LIGHTNESS = [[0.38, 0.72], [0.54, 0.58], [0.68, 0.44]]
const shade = (pair) => pair[dark.matches ? 1 : 0]
/** Without the box that sigma draws around a node that is pointed at: it is white whatever the page is. */
class Square extends NodeSquareProgram {
  drawHover = undefined
}

/** CSS Color 4, hsl to rgb; sigma reads hexadecimal colours only. `hue` in degrees. */
function hexColour(hue, saturation, lightness) {
  const channel = (offset) => {
    const turn = (offset + hue / 30) % 12
    const part = lightness - saturation * Math.min(lightness, 1 - lightness) * Math.max(-1, Math.min(turn - 3, 9 - turn, 1))
    return Math.round(255 * part).toString(16).padStart(2, '0')
  }
  return `#${channel(0)}${channel(8)}${channel(4)}`
}

/** A colour of its own for each type: hues by the golden angle, which never meet, in three degrees of lightness. */
function edgeColour(type) {
  if (!types.includes(type)) types.push(type)
  const number = types.indexOf(type)
  return hexColour((number * 137.508 + 210) % 360, 0.6, shade(LIGHTNESS[number % 3]))
}

/** One line without marks that reverse or command what is shown; sigma draws it as text, never as markup. */
const inert = (text) => text.replace(/[\p{Cc}\p{Cf}]/gu, ' ').replace(/\s+/g, ' ').trim()
const cut = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text)

const graph = new MultiUndirectedGraph()

/** How many facts of a person are not listed; that there is none. */
function unlisted(node) {
  const more = node.facts_count - (node.facts ?? []).length
  if (!node.facts_count) return [words.no_facts]
  return more > 0 ? [fill(words.more_facts, { count: more })] : []
}

function addNode(node, x, y) {
  if (graph.hasNode(node.id)) return false
  const person = node.type === 'person'
  graph.addNode(node.id, {
    x,
    y,
    label: cut(inert(node.label), 48),
    size: person ? 9 : 5,
    type: person ? 'circle' : 'square',
    color: shade(COLOURS[node.type]),
    kind: node.type,
    said: person
      ? `${node.label}: ${[...(node.facts ?? []), ...unlisted(node), fill(words.names, { count: node.aliases_count })].join(' · ')}`
      : [node.timestamp?.slice(0, 10), node.label, node.preview].filter(Boolean).join(' · '),
  })
  return true
}

function addEdge(edge) {
  const key = `${edge.source} ${edge.type} ${edge.target}`
  if (graph.hasEdge(key) || !graph.hasNode(edge.source) || !graph.hasNode(edge.target)) return
  graph.addEdgeWithKey(key, edge.source, edge.target, { size: 1.2, color: edgeColour(edge.type), kind: edge.type })
}

/** The colours of the types that are drawn. */
function drawLegend() {
  const drawn = new Set(graph.mapEdges((id, edge) => edge.kind))
  const entries = types.filter((type) => drawn.has(type)).map((type) => {
    const entry = document.createElement('span')
    const line = document.createElement('span')
    line.className = 'edge'
    line.style.backgroundColor = edgeColour(type)
    entry.append(line, names[type] ?? inert(type.replaceAll('_', ' ')))
    return entry
  })
  document.getElementById('edges').replaceChildren(...entries)
}

async function load(address) {
  const response = await fetch(address)
  if (!response.ok) throw new Error(fill(words.graph_failed, { status: response.status }))
  return response.json()
}

/** The more a node is related to, the larger; people larger than records. */
function resize(id) {
  const person = graph.getNodeAttribute(id, 'kind') === 'person'
  graph.setNodeAttribute(id, 'size', (person ? 7 : 4) + Math.min(9, 1.1 * Math.sqrt(graph.degree(id))))
}

/** The largest nodes are named whatever else is drawn near them. */
const NAMED = 14
function name() {
  const people = graph.filterNodes((id, node) => node.kind === 'person')
  const largest = (people.length ? people : graph.nodes()).sort((a, b) => graph.degree(b) - graph.degree(a))
  largest.slice(0, NAMED).forEach((id) => graph.setNodeAttribute(id, 'forceLabel', true))
}

/** What a node is related to, in a ring around it; what was left out is said. */
async function expand(id) {
  const found = await load(`${place.dataset.around}?${new URLSearchParams({ ref: id })}`)
  const { x, y } = graph.getNodeAttributes(id)
  const fresh = found.nodes.filter((node) => !graph.hasNode(node.id))
  fresh.forEach((node, number) => {
    const turn = number * Math.PI * (3 - Math.sqrt(5))
    const far = 0.35 * Math.sqrt(number + 1)
    addNode(node, x + far * Math.cos(turn), y + far * Math.sin(turn))
  })
  found.edges.forEach(addEdge)
  drawLegend()
  ;[id, ...fresh.map((node) => node.id)].forEach(resize)
  return { fresh: fresh.map((node) => node.id), omitted: found.omitted.records ?? 0 }
}

function say(text) {
  tooltip.textContent = cut(inert(text), 360)
  tooltip.hidden = !text
}

/** What a click has added around a node, by name, and what its page has beside that. */
function outcome(id, fresh, omitted) {
  const names = fresh.slice(0, 4).map((one) => cut(graph.getNodeAttribute(one, 'said'), 48))
  const more = fresh.length > names.length ? ` ${fill(words.and_more, { count: fresh.length - names.length })}` : ''
  const news = fresh.length ? fill(words.added, { count: fresh.length, names: names.join('; ') + more }) : words.nothing_added
  const rest = omitted ? `; ${fill(words.on_its_page, { count: omitted })}` : ''
  return `${graph.getNodeAttribute(id, 'label')}: ${omitted && !fresh.length ? words.newest_shown : news}${rest}`
}

/** Whether this browser can draw it at all. */
const draws = () => Boolean(document.createElement('canvas').getContext('webgl2'))

async function draw() {
  if (!draws()) throw new Error(words.no_graph)
  const data = await load(place.dataset.graph)
  performance.mark('graph data')
  place.hidden = false
  data.nodes.forEach((node) => addNode(node, node.x, node.y))
  data.edges.forEach(addEdge)
  drawLegend()
  graph.forEachNode(resize)
  name()
  const style = getComputedStyle(document.body)
  const renderer = new Sigma(graph, place, {
    nodeProgramClasses: { square: Square },
    defaultNodeType: 'square',
    labelFont: style.fontFamily,
    labelColor: { color: style.color },
    labelSize: 12,
    labelDensity: 0.6,
    labelGridCellSize: 130,
    labelRenderedSizeThreshold: 6,
    hideEdgesOnMove: graph.size > 8000,
    zIndex: true,
    defaultDrawNodeHover: () => {},
  })
  let near = null
  let added = new Set()
  let pointed = null
  let dragged = null
  let moved = false
  /** what was said of the last click, which stays when the mouse goes on */
  let told = ''
  renderer.setSetting('nodeReducer', (id, node) => {
    if (!near) return node
    if (near.has(id)) return { ...node, forceLabel: id === pointed || added.has(id), zIndex: 1 }
    return { ...node, label: '', color: shade(['#d8d3c8', '#3b3d3f']) }
  })
  renderer.setSetting('edgeReducer', (id, edge) => {
    if (!near) return edge
    return graph.extremities(id).every((end) => near.has(end)) ? { ...edge, size: 2 } : { ...edge, hidden: true }
  })
  const light = (id) => {
    pointed = id
    near = id && new Set([id, ...graph.neighbors(id)])
    say(id ? graph.getNodeAttribute(id, 'said') : told)
    renderer.refresh({ skipIndexation: true })
  }
  renderer.on('enterNode', ({ node }) => light(node))
  renderer.on('leaveNode', () => light(null))
  renderer.on('downNode', ({ node, event }) => {
    dragged = node
    moved = false
    event.preventSigmaDefault()
  })
  renderer.getMouseCaptor().on('mousemovebody', (event) => {
    if (!dragged) return
    moved = true
    const { x, y } = renderer.viewportToGraph(event)
    graph.mergeNodeAttributes(dragged, { x, y })
    event.preventSigmaDefault()
    event.original.preventDefault()
  })
  renderer.getMouseCaptor().on('mouseup', () => (dragged = null))
  renderer.on('clickNode', async ({ node }) => {
    if (moved) return
    const { fresh, omitted, failed } = await expand(node).catch((error) => ({ failed: error.message }))
    told = failed ?? outcome(node, fresh, omitted)
    added = new Set(fresh)
    light(node)
    say(told)
  })
  renderer.on('doubleClickNode', ({ node, event }) => {
    event.preventSigmaDefault()
    const person = node.startsWith('person:')
    location = person ? `/person?name=${node.slice(7)}` : `/record?${new URLSearchParams({ ref: node })}`
  })
  dark.addEventListener('change', () => location.reload())
  const focus = place.dataset.focus
  if (focus) {
    if (!graph.hasNode(focus)) (await load(`${place.dataset.around}?${new URLSearchParams({ ref: focus })}`)).nodes.forEach((node, number) => addNode(node, 0.2 * number, 0))
    added = new Set((await expand(focus)).fresh)
    light(focus)
  }
  document.getElementById('cards').hidden = true
  document.getElementById('gestures').hidden = false
  document.getElementById('edges').hidden = false
  performance.mark('graph ready')
  place.dataset.drawn = `${graph.order} ${graph.size}`
  globalThis.drawn = { graph, renderer }
}

/** Where it cannot be drawn, why; the cards stay. */
function fail(error) {
  place.hidden = true
  const why = document.getElementById('why')
  why.textContent = error.message
  why.hidden = false
}

if (place) draw().catch(fail)
