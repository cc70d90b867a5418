// The Playground listens on all interfaces and has no option for it. Loaded first, this binds it to 127.0.0.1.
const net = require("net");
const listen = net.Server.prototype.listen;
net.Server.prototype.listen = function (first, ...rest) {
  const port = typeof first === "object" && first !== null ? first.port : first;
  const callback = rest.filter((each) => typeof each === "function").at(-1);
  return listen.call(this, Number(port), "127.0.0.1", callback);
};
