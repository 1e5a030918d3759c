// A drawing as a list of shapes, put on the page as SVG and into an image file through a canvas. Which
// shapes, decides who makes the list.

import { svg } from '../shared/dom.js';

/**
 * Shapes: `{rect: [x, y, w, h], fill, stroke, opacity, round}`, `{line: [x1, y1, x2, y2], stroke, width,
 * dash}`, `{text, at: [x, y], size, bold, fill, anchor}`, `{piece: 'wK', at: [x, y], size, opacity}`.
 */
export function toSvg({ width, height, shapes, label }) {
  return svg('svg', { viewBox: `0 0 ${width} ${height}`, width, height, role: 'img', 'aria-label': label, class: 'scene' }, shapes.map((shape) => {
    if (shape.rect) {
      const [x, y, w, h] = shape.rect;
      return svg('rect', { x, y, width: w, height: h, fill: shape.fill ?? 'none', stroke: shape.stroke, 'stroke-width': shape.width, opacity: shape.opacity, rx: shape.round });
    }
    if (shape.line) {
      const [x1, y1, x2, y2] = shape.line;
      return svg('line', { x1, y1, x2, y2, stroke: shape.stroke, 'stroke-width': shape.width ?? 1, 'stroke-dasharray': shape.dash?.join(' '), opacity: shape.opacity });
    }
    if (shape.piece) return svg('image', { href: pieceFile(shape.piece), x: shape.at[0], y: shape.at[1], width: shape.size, height: shape.size, opacity: shape.opacity });
    return svg('text', { x: shape.at[0], y: shape.at[1], fill: shape.fill, 'font-size': shape.size ?? 12, 'font-weight': shape.bold ? 650 : 400, 'text-anchor': shape.anchor ?? 'start' }, shape.text);
  }));
}

function pieceFile(name) {
  return new URL(`../pieces/${name}.svg`, import.meta.url).href;
}

const pictures = new Map();
function picture(name) {
  if (!pictures.has(name)) {
    pictures.set(name, new Promise((done) => {
      const image = new Image();
      image.onload = () => done(image);
      image.onerror = () => done(null);
      image.src = pieceFile(name);
    }));
  }
  return pictures.get(name);
}

/** The drawing as a PNG file's bytes, twice as fine as on the page. */
export async function toPng({ width, height, shapes }, paper) {
  const canvas = document.createElement('canvas');
  canvas.width = width * 2;
  canvas.height = height * 2;
  const pen = canvas.getContext('2d');
  pen.scale(2, 2);
  pen.fillStyle = paper;
  pen.fillRect(0, 0, width, height);
  for (const shape of shapes) {
    pen.globalAlpha = shape.opacity ?? 1;
    if (shape.rect) {
      pen.beginPath();
      pen.roundRect(...shape.rect, shape.round ?? 0);
      if (shape.fill && shape.fill !== 'none') { pen.fillStyle = shape.fill; pen.fill(); }
      if (shape.stroke) { pen.strokeStyle = shape.stroke; pen.lineWidth = shape.width ?? 1; pen.stroke(); }
    } else if (shape.line) {
      const [x1, y1, x2, y2] = shape.line;
      pen.beginPath();
      pen.setLineDash(shape.dash ?? []);
      pen.strokeStyle = shape.stroke;
      pen.lineWidth = shape.width ?? 1;
      pen.moveTo(x1, y1);
      pen.lineTo(x2, y2);
      pen.stroke();
      pen.setLineDash([]);
    } else if (shape.piece) {
      const image = await picture(shape.piece);
      if (image) pen.drawImage(image, ...shape.at, shape.size, shape.size);
    } else {
      pen.fillStyle = shape.fill;
      pen.font = `${shape.bold ? 600 : 400} ${shape.size ?? 12}px Inter, system-ui, sans-serif`;
      pen.textAlign = { start: 'left', middle: 'center', end: 'right' }[shape.anchor ?? 'start'];
      pen.fillText(shape.text, ...shape.at);
    }
  }
  return new Promise((done) => canvas.toBlob(done, 'image/png'));
}
