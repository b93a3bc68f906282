package server

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"

	"engram/server/internal/login"
	"engram/server/token"
)

// csrfHeader is what a page that logged in sends with requests that may change something.
const csrfHeader = "X-CSRF-Token"

func (s *Server) loginRoutes() []*route {
	return []*route{{
		method: http.MethodPost, pattern: "/v1/login/codes", scope: token.Read, or: token.Chat, global: true, writes: true, handle: s.loginCode,
		summary:  "Make a code by which a browser can log in",
		detail:   "As the token that asks, once, within 2 minutes. A browser that logged in can make none.",
		response: loginCodeResponse{},
	}, {
		method: http.MethodPost, pattern: "/v1/login", body: jsonBody, global: true, writes: true, handle: s.login,
		summary: "Log a browser in by a code",
		detail: "The answer sets a cookie, which counts as the token for requests of the same Host, for 12 hours, or until the token or the session ends. " +
			"It holds for GET alone: other requests by it need csrf of the answer as " + csrfHeader + ", websockets an Origin. Needs no token.",
		request: loginRequest{}, response: loginResponse{}, problems: []string{codeLogin, codeRate, codeShutdown},
	}, {
		method: http.MethodGet, pattern: "/v1/login", scope: token.Read, or: token.Chat, global: true, handle: s.whoAmI,
		summary: "Who a request comes from", response: whoResponse{},
	}, {
		method: http.MethodDelete, pattern: "/v1/login", scope: token.Read, or: token.Chat, global: true, writes: true, handle: s.logout,
		summary: "Log a browser out", detail: "Its websockets and streams end within seconds.", response: logoutResponse{},
	}}
}

type loginRequest struct {
	Code string `json:"code" doc:"Of POST /v1/login/codes, or engramd token login." required:"true"`
}

type loginCodeResponse struct {
	Code    string `json:"code"`
	Seconds int    `json:"expires_in" doc:"Seconds in which it can be used."`
}

type loginResponse struct {
	CSRF string      `json:"csrf" doc:"What requests other than GET have to send as X-CSRF-Token. It is not told again."`
	Who  whoResponse `json:"who"`
}

// whoResponse tells who a request comes from.
type whoResponse struct {
	Token      string        `json:"token" doc:"The token's name."`
	Scopes     []token.Scope `json:"scopes"`
	Namespaces []string      `json:"namespaces" doc:"Those that it may use; none: all."`
	Session    bool          `json:"session" doc:"It comes from a browser that logged in."`
	Expires    *time.Time    `json:"expires,omitempty" doc:"When the session ends."`
}

type logoutResponse struct {
	Ended bool `json:"ended" doc:"False for a request that comes with a token."`
}

type sessionKey struct{}

// sessionOf is the session that a request comes from; nil: it comes with a token.
func sessionOf(ctx context.Context) *login.Session {
	s, _ := ctx.Value(sessionKey{}).(*login.Session)
	return s
}

// cookieName has the port, which cookies are not kept apart by.
func cookieName(req *http.Request) string {
	name := "engram"
	if _, port, err := net.SplitHostPort(req.Host); err == nil {
		name += "-" + port
	}
	if req.TLS != nil {
		return "__Host-" + name
	}
	return name
}

// bySession tells whose request it is by its cookie; nil: it has none. Requests that may
// change something have to come from the page that logged in.
func (s *Server) bySession(req *http.Request) (*login.Session, error) {
	cookies := req.CookiesNamed(cookieName(req))
	if len(cookies) != 1 || len(cookies[0].Value) > 512 {
		return nil, nil
	}
	found, ok := s.logins.Lookup(cookies[0].Value, req.Host)
	if !ok {
		return nil, nil
	}
	if upgrade := req.Header.Get("Upgrade"); upgrade != "" && req.Header.Get("Origin") == "" {
		return nil, newProblem(http.StatusForbidden, codeOriginRefused, "a websocket by a cookie needs an Origin, which browsers send")
	}
	if req.Method != http.MethodGet && req.Method != http.MethodHead && !found.Allows(req.Header.Get(csrfHeader)) {
		return nil, newProblem(http.StatusForbidden, codeCSRF, "a request by a cookie needs the header "+csrfHeader+", which the answer of the login told")
	}
	return found, nil
}

func (s *Server) loginCode(c *call) error {
	if sessionOf(c.ctx) != nil {
		return newProblem(http.StatusForbidden, codeForbidden, "a browser that logged in makes no codes: use the token, or engramd token login")
	}
	text, err := s.logins.Code(c.who)
	if err != nil {
		return loginProblem(err)
	}
	return c.answer(loginCodeResponse{text, int(login.CodeLife.Seconds())})
}

func (s *Server) login(c *call) error {
	var q loginRequest
	if err := c.decode(&q); err != nil {
		return err
	}
	if s.draining.Load() {
		return newProblem(http.StatusServiceUnavailable, codeShutdown, "the server is ending: nothing was done")
	}
	if q.Code == "" || len(q.Code) > 100 {
		return invalid("code", "the code is missing, or too long to be one")
	}
	session, secret, csrf, err := s.logins.Login(q.Code, c.req.Host)
	if err != nil {
		return loginProblem(err)
	}
	http.SetCookie(c.w, &http.Cookie{
		Name: cookieName(c.req), Value: secret, Path: "/", MaxAge: int(login.SessionLife.Seconds()), HttpOnly: true, Secure: c.req.TLS != nil, SameSite: http.SameSiteStrictMode,
	})
	c.who = session.Who // for the log
	return c.answer(loginResponse{csrf, who(session.Who, session)})
}

func who(i token.Identity, session *login.Session) whoResponse {
	out := whoResponse{Token: i.Name, Scopes: i.Scopes, Namespaces: append([]string{}, i.Namespaces...)}
	if session != nil {
		out.Session, out.Expires = true, &session.Expires
	}
	return out
}

func (s *Server) whoAmI(c *call) error { return c.answer(who(c.who, sessionOf(c.ctx))) }

func (s *Server) logout(c *call) error {
	session := sessionOf(c.ctx)
	if session == nil {
		return c.answer(logoutResponse{})
	}
	s.logins.End(session)
	http.SetCookie(c.w, &http.Cookie{Name: cookieName(c.req), Path: "/", MaxAge: -1, HttpOnly: true, Secure: c.req.TLS != nil, SameSite: http.SameSiteStrictMode})
	return c.answer(logoutResponse{true})
}

func loginProblem(err error) error {
	if errors.Is(err, login.ErrRefused) {
		return newProblem(http.StatusUnauthorized, codeLogin, err.Error())
	}
	p := newProblem(http.StatusTooManyRequests, codeRate, err.Error())
	p.retryAfter = 6
	return p
}
