// What the graph page takes of its libraries, bundled into relrag_query/web/static/vendor/ by `make assets`.
export { NodeSquareProgram } from '@sigma/node-square'
export { MultiUndirectedGraph } from 'graphology'
export { Sigma } from 'sigma'
